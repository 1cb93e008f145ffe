package shim

import (
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// census is a list of all processes of this machine at one moment. It finds the processes
// of a worker whose shim is gone.
type census struct {
	all      []proc.Process
	children map[int][]proc.Process
	// byPID is made when it is first needed.
	byPID map[int]proc.Process
	marks map[int]marks
}

type marks struct {
	worker string
	// mark is that of a shim or of a tmux server; proven says that the process really
	// is one.
	mark   string
	proven bool
}

func takeCensus() *census {
	// After an error the list is incomplete, but its entries are right.
	all, _ := proc.Find(func(proc.Process) bool { return true })
	c := &census{all: all, children: make(map[int][]proc.Process), marks: make(map[int]marks)}
	for _, p := range all {
		c.children[p.Parent] = append(c.children[p.Parent], p)
	}
	return c
}

// orphans returns the processes that are proven to be those of a worker without
// its shim:
//
//   - who carries the worker's id in the environment that it was started with;
//   - who is in the session that the worker's main process led, if that is still
//     this session, which a member with the id proves: the number of a session can
//     be used again only when nobody is left in it;
//   - who is in the control group of the worker, and not below the shim of another one
//     that the worker spawned;
//   - who descends from one of these.
//
// The contents of st prove nothing, since the worker can write them. Shims of other
// workers, and the processes below them, are not the worker's. st is zero if only the id is
// known.
func (c *census) orphans(st rundir.Status, id string) []proc.Process {
	var carriers, members []proc.Process
	proven := false
	led := c.led(st)
	grouped := membersOf(st, id)
	for _, p := range c.all {
		if p.Start < st.Shim.Start {
			continue
		}
		worker := c.marksOf(p).worker
		if grouped[p.PID] && (worker == id || worker == "") && !c.belowStranger(p) {
			carriers = append(carriers, p)
			continue
		}
		member := led && p.Session == st.Session && (worker == id || worker == "")
		carrier := worker == id
		if member {
			members = append(members, p)
		}
		if carrier {
			carriers = append(carriers, p)
		}
		proven = proven || member && carrier
	}
	seeds := carriers
	if proven {
		seeds = append(seeds, members...)
	}
	var found []proc.Process
	seen := make(map[int]bool)
	for len(seeds) > 0 {
		p := seeds[0]
		seeds = seeds[1:]
		if seen[p.PID] || c.isStranger(p) {
			continue
		}
		seen[p.PID] = true
		found = append(found, p)
		seeds = append(seeds, c.children[p.PID]...)
	}
	slices.SortFunc(found, func(a, b proc.Process) int { return a.PID - b.PID })
	return found
}

// membersOf returns the pids in the control group of a worker.
func membersOf(st rundir.Status, id string) map[int]bool {
	if len(st.Groups) == 0 {
		return nil
	}
	in := make(map[int]bool)
	pids, _ := cgroup.Open(st.Groups, id).Members() // other proofs remain
	for _, pid := range pids {
		in[pid] = true
	}
	return in
}

// belowStranger reports whether a process descends from one that is no worker's, such as
// the shim of another worker.
func (c *census) belowStranger(p proc.Process) bool {
	if c.byPID == nil {
		c.byPID = make(map[int]proc.Process, len(c.all))
		for _, q := range c.all {
			c.byPID[q.PID] = q
		}
	}
	for range c.all {
		if c.isStranger(p) {
			return true
		}
		above, ok := c.byPID[p.Parent]
		if !ok {
			return false
		}
		p = above
	}
	return false
}

// isStranger reports whether a process is a shim, which its run directory proves, or a tmux
// server that is marked as one for all workers. The processes below it are not the
// worker's.
func (c *census) isStranger(p proc.Process) bool { return c.marksOf(p).proven }

// led reports whether the session of st can still be the one that the main process
// led.
func (c *census) led(st rundir.Status) bool {
	if st.Session <= 0 {
		return false
	}
	for _, p := range c.all {
		if p.PID == st.Session {
			return p.Identity == st.Main
		}
	}
	return true
}

// doubtful returns the processes that may be those of a worker without its shim, and
// are not proven to be: they are left alone, and named.
//
//   - who st names, and is in the session that it names;
//   - who holds the worker's output or its terminal open;
//   - who was started with a cleared environment, works in the worker's directory or
//     below, and has lost its parent.
//
// The mark of another worker in its environment frees no process from this, since anyone can
// write it. The shim of that worker above the process does.
func (c *census) doubtful(st rundir.Status, proven []proc.Process) []proc.Process {
	var found []proc.Process
	led := c.led(st)
	for _, p := range c.all {
		known := slices.ContainsFunc(proven, func(q proc.Process) bool { return q.Identity == p.Identity })
		if known || p.Start < st.Shim.Start {
			continue
		}
		traced := p.Identity == st.Main || led && p.Session == st.Session ||
			st.Pipes != (rundir.Pipes{}) && proc.HoldsPipe(p.PID, st.Pipes.Out, st.Pipes.Err) ||
			proc.HoldsClosed(p.PID, st.Terminal) ||
			c.adopted(p, st) && proc.HasClearedEnv(p.PID) && within(proc.Dir(p.PID), st.Dir)
		if traced && !c.belowStranger(p) {
			found = append(found, p)
		}
	}
	return found
}

// adopted reports whether the parent of a process is older than the worker and of
// another session: it took the process over.
func (c *census) adopted(p proc.Process, st rundir.Status) bool {
	for _, q := range c.all {
		if q.PID == p.Parent {
			return q.Start < st.Shim.Start && q.Session != p.Session
		}
	}
	return true
}

func within(dir, root string) bool {
	return dir != "" && root != "" && (dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/"))
}

// below returns what descends from a shim, which must be proven, without other shims
// and what is below those.
func (c *census) below(shim proc.Identity) []proc.Process {
	var found []proc.Process
	seen := map[int]bool{shim.PID: true}
	parents := []int{shim.PID}
	for len(parents) > 0 {
		children := c.children[parents[0]]
		parents = parents[1:]
		for _, p := range children {
			if !seen[p.PID] && p.Start >= shim.Start && !c.isStranger(p) {
				seen[p.PID] = true
				found = append(found, p)
				parents = append(parents, p.PID)
			}
		}
	}
	return found
}

// marksOf reads an environment at most once. The environment may already be that of a later
// process with the same pid; that process has another start time than p, so a signal to p
// reaches nothing.
func (c *census) marksOf(p proc.Process) marks {
	m, ok := c.marks[p.PID]
	if !ok {
		m.worker, _ = proc.Getenv(p.PID, swarm.EnvWorkerID)
		m.mark, _ = proc.Getenv(p.PID, swarm.EnvShim)
		m.proven = m.mark == "tmux" && p.Name == "tmux: server" ||
			rundir.IsHelper(m.mark, p.PID) || m.mark != "" && rundir.IsShim(p.Identity)
		c.marks[p.PID] = m
	}
	return m
}
