package shim

import (
	"slices"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// census is all processes of this machine at one moment. It answers whose they
// are when the shim that would know is gone.
type census struct {
	all      []proc.Process
	children map[int][]proc.Process
	marks    map[int]marks
}

// marks are what a process carries in its environment.
type marks struct {
	worker string
	keeper bool
}

func takeCensus() *census {
	// An error is that of a list cut short; what was read is still true.
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
//     this session, which the main process proves, or a member with the id: the
//     number of a session can be used again only when nobody is left in it;
//   - who descends from one of these.
//
// Keepers of other workers, and what is below them, are not the worker's. st is
// zero if nothing but the id is known.
func (c *census) orphans(st rundir.Status, id string) []proc.Process {
	var carriers, members []proc.Process
	proven := st.Session > 0 && st.Main.Alive()
	for _, p := range c.all {
		if p.Start < st.Shim.Start {
			continue
		}
		member := st.Session > 0 && p.Session == st.Session
		carrier := c.marksOf(p).worker == id
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
		if seen[p.PID] || c.marksOf(p).keeper {
			continue
		}
		seen[p.PID] = true
		found = append(found, p)
		seeds = append(seeds, c.children[p.PID]...)
	}
	slices.SortFunc(found, func(a, b proc.Process) int { return a.PID - b.PID })
	return found
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
			if !seen[p.PID] && p.Start >= shim.Start && !c.marksOf(p).keeper {
				seen[p.PID] = true
				found = append(found, p)
				parents = append(parents, p.PID)
			}
		}
	}
	return found
}

// marksOf reads an environment at most once. What it reads may already be that
// of a later process with the same pid; that one has another start time than p,
// and a signal to p reaches nobody.
func (c *census) marksOf(p proc.Process) marks {
	m, ok := c.marks[p.PID]
	if !ok {
		m.worker, _ = proc.Getenv(p.PID, swarm.EnvWorkerID)
		_, m.keeper = proc.Getenv(p.PID, swarm.EnvKeeper)
		c.marks[p.PID] = m
	}
	return m
}
