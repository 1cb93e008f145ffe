package client

import (
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// census is a list of all processes of this machine at one moment. It finds the processes
// of a worker whose shim is gone.
type census struct {
	all      []proc.Process
	byPID    map[int]proc.Process
	children map[int][]proc.Process
	marks    map[int]marks
}

type marks struct {
	worker string
	// stranger says that the process is proven to be a shim, a helper or a tmux server, engine that
	// it is the server of another engine or below one, unless it carries the id of a worker.
	stranger, engine bool
}

func takeCensus() *census {
	// After an error the list is incomplete, but its entries are right.
	all, _ := proc.Find(func(proc.Process) bool { return true })
	c := &census{
		all: all, byPID: make(map[int]proc.Process, len(all)),
		children: make(map[int][]proc.Process), marks: make(map[int]marks),
	}
	for _, p := range all {
		c.byPID[p.PID] = p
		c.children[p.Parent] = append(c.children[p.Parent], p)
	}
	return c
}

// orphans returns the processes that are proven to belong to a worker without its shim:
//
//   - those started with the worker's id in their environment;
//   - those in the session that the worker's main process led, if it is still the same
//     session, which a member with the id proves: the number of a session is not used
//     again while a process is in it;
//   - those in the control group of the worker, and not below the shim of another worker
//     that this one spawned;
//   - the descendants of these.
//
// The contents of st prove nothing, since the worker can write them. Shims of other workers
// and the processes below them are left out. st is zero if only the id is known.
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
		if grouped[p.PID] && (worker == id || worker == "") && !c.belowStranger(p, id, proc.Identity{}) {
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
	found := c.descend(seeds, 0, id)
	slices.SortFunc(found, func(a, b proc.Process) int { return a.PID - b.PID })
	return found
}

// descend returns the seeds and their descendants, without strangers and processes that
// started before since, and without the descendants of those.
func (c *census) descend(seeds []proc.Process, since uint64, id string) []proc.Process {
	var found []proc.Process
	seen := make(map[int]bool)
	for len(seeds) > 0 {
		p := seeds[0]
		seeds = seeds[1:]
		if seen[p.PID] || p.Start < since || c.isStranger(p, id) {
			continue
		}
		seen[p.PID] = true
		found = append(found, p)
		seeds = append(seeds, c.children[p.PID]...)
	}
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

// belowStranger reports whether a process is a stranger or descends from one. Processes above top do
// not count, unless top is zero.
//
// A shim that is being killed loses its environment and its files some time before its children
// get another parent. It proves nothing about itself then, and above it is what has started it, such as a
// tmux server. So a search for what perhaps belongs to its worker ends with it.
func (c *census) belowStranger(p proc.Process, id string, top proc.Identity) bool {
	for range c.all {
		if c.isStranger(p, id) {
			return true
		}
		above, ok := c.byPID[p.Parent]
		if !ok || p.Identity == top {
			return false
		}
		p = above
	}
	return false
}

// isStranger reports whether a process does not belong to a worker, see [rundir.Marks.IsStranger].
func (c *census) isStranger(p proc.Process, id string) bool {
	m := c.marksOf(p)
	return m.stranger || m.engine && m.worker != id
}

// led reports whether the session of st can still be the one that the main process
// led.
func (c *census) led(st rundir.Status) bool {
	if st.Session <= 0 {
		return false
	}
	p, ok := c.byPID[st.Session]
	return !ok || p.Identity == st.Main
}

// doubtful returns the processes that may belong to a worker without its shim, without
// proof. They are reported, but not signalled:
//
//   - the main process that st names, and those in the session that it names;
//   - those that hold the worker's output or its terminal open;
//   - those that were started with a cleared environment, work in the worker's directory or
//     below, have lost their parent, and are not proven to belong to another worker, see [others].
//
// The mark of another worker in the environment of a process does not exempt it, since any
// process can set it. The shim of that worker above the process does.
func (c *census) doubtful(st rundir.Status, proven []proc.Process, o others) []proc.Process {
	var found []proc.Process
	led := c.led(st)
	for _, p := range c.all {
		known := slices.ContainsFunc(proven, func(q proc.Process) bool { return q.Identity == p.Identity })
		if known || p.Start < st.Shim.Start {
			continue
		}
		traced := p.Identity == st.Main || isTraced(p, st, led) || c.isClearedIn(p, st) && !o.own(c, p)
		if traced && !c.belowStranger(p, st.ID, st.Shim) {
			found = append(found, p)
		}
	}
	return found
}

// traced returns the processes of doubtful to which a trace of the worker leads: its main
// process, its session, its output or its terminal. The worker may still run in them, the
// main process first.
func (c *census) traced(st rundir.Status, proven []proc.Process) []proc.Process {
	var found []proc.Process
	led := c.led(st)
	for _, p := range c.all {
		known := slices.ContainsFunc(proven, func(q proc.Process) bool { return q.Identity == p.Identity })
		switch {
		case known || p.Start < st.Shim.Start || c.belowStranger(p, st.ID, st.Shim) || !isTraced(p, st, led):
		case p.Identity == st.Main:
			found = slices.Insert(found, 0, p)
		default:
			found = append(found, p)
		}
	}
	return found
}

// isTraced reports whether a trace of the worker leads to a process. led says that the
// session of st can still be the one that the main process led.
func isTraced(p proc.Process, st rundir.Status, led bool) bool {
	return isMain(p, st) || led && p.Session == st.Session ||
		st.Pipes != (rundir.Pipes{}) && proc.HoldsPipe(p.PID, st.Pipes.Out, st.Pipes.Err) ||
		proc.HoldsClosed(p.PID, st.Terminal)
}

// isMain reports whether a process is the main process that st names. The main process
// leads the session that st names for as long as it lives: a status with another session was
// not written by a shim.
func isMain(p proc.Process, st rundir.Status) bool {
	return p.Identity == st.Main && (st.Session == 0 || st.Session == p.PID && p.Session == p.PID)
}

// isClearedIn reports whether a process has a cleared environment, works in the directory of the
// worker, and has lost its parent.
func (c *census) isClearedIn(p proc.Process, st rundir.Status) bool {
	// A parent that is older than the worker and of another session took the process over.
	q, ok := c.byPID[p.Parent]
	adopted := !ok || q.Start < st.Shim.Start && q.Session != p.Session
	return adopted && proc.HasClearedEnv(p.PID) && within(proc.Dir(p.PID), st.Dir)
}

func within(dir, root string) bool {
	return dir != "" && root != "" && (dir == root || strings.HasPrefix(dir, strings.TrimSuffix(root, "/")+"/"))
}

// below returns the descendants of the shim of a worker, which must be proven, without other
// shims and their descendants.
func (c *census) below(shim proc.Identity, id string) []proc.Process {
	found := c.descend(slices.Clone(c.children[shim.PID]), shim.Start, id)
	// The list is not a snapshot: if a pid was reused, it may contain a cycle.
	return slices.DeleteFunc(found, func(p proc.Process) bool { return p.PID == shim.PID })
}

// marksOf reads an environment at most once. The environment may already be that of a later
// process with the same pid; that process has another start time than p, so a signal to p
// reaches nothing.
func (c *census) marksOf(p proc.Process) marks {
	m, ok := c.marks[p.PID]
	if !ok {
		found, _ := rundir.MarksOf(p.PID)
		m.worker = found.Worker
		m.engine = found.Engine != "" && found.IsServer(p, "")
		found.Engine = ""
		m.stranger = found.Shim != "" && found.IsStranger(p, "")
		c.marks[p.PID] = m
	}
	return m
}
