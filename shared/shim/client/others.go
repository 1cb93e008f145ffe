package client

import (
	"path/filepath"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// others finds the processes that are proven to belong to other workers of a state directory,
// whose shims may be gone too. It reads their records at most once, when the first process is
// looked up. The zero value knows of no other worker.
type others struct {
	// dir is the run directory of the worker that the census is for. The run directories of the
	// other workers are next to it.
	dir string
	// mains are the living main processes by their pids, nil before the records are read.
	mains map[int]proc.Identity
}

// own reports whether a process is the main process of another worker, descends from one, or is in
// the session of one. A session stays the one that its main process led for as long as that process
// lives.
func (o *others) own(c *census, p proc.Process) bool {
	if o.mains == nil {
		o.read(c)
	}
	if leader, ok := c.byPID[p.Session]; ok && o.isMain(leader) {
		return true
	}
	for range c.all {
		if o.isMain(p) {
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

func (o *others) isMain(p proc.Process) bool {
	main, ok := o.mains[p.PID]
	return ok && main == p.Identity
}

// read reads the records. A record that can't be read proves nothing.
func (o *others) read(c *census) {
	o.mains = make(map[int]proc.Identity)
	if o.dir == "" {
		return
	}
	parent, own := filepath.Split(filepath.Clean(o.dir))
	entries, err := safefile.ReadDir(filepath.Clean(parent))
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() == own || !e.IsDir() {
			continue
		}
		st, err := readRecord(filepath.Join(parent, e.Name()))
		if err != nil || st.State != rundir.StateRunning {
			continue
		}
		if p, ok := c.byPID[st.Main.PID]; ok && isMain(p, st) {
			o.mains[p.PID] = p.Identity
		}
	}
}
