package caller

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
)

// Dir returns the state directory of the worker in which the calling process runs, as its
// shim proves it; empty if it runs in none.
func Dir() string {
	run := RunDirAbove(ParentPID())
	if run == "" || filepath.Base(filepath.Dir(run)) != statedir.WorkersDir {
		return ""
	}
	return filepath.Dir(filepath.Dir(run))
}

// MovedFrom returns the state directory of the worker in which the calling process runs, if the
// worker was started from the directory dir and its run directory is not there any more: the
// directory was moved, and the worker's environment still names the old path. Otherwise it
// returns the empty text.
func MovedFrom(dir string) string {
	run := RunDirAbove(ParentPID())
	if run == "" || filepath.Base(filepath.Dir(run)) != statedir.WorkersDir {
		return ""
	}
	before := statedir.Dir(dir).RunDir(filepath.Base(run))
	st, err := statedir.ReadStatus(run)
	if err != nil || statedir.SameFile(run, before) {
		return ""
	}
	// A shim was started with its run directory as the only argument.
	if args := proc.Args(st.Shim.PID); len(args) != 2 || filepath.Clean(args[1]) != before {
		return ""
	}
	return filepath.Dir(filepath.Dir(run))
}

// ID returns the id of the worker of this state directory in which the calling process
// runs; empty if it runs in none. For a shell that acts as its owner, that is the worker of
// the owner.
func (f *Finder) ID() string {
	if f.Worker != "" {
		return "" // it runs outside
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()
	run, _ := f.nearestRun(ctx, ParentPID(), RunDirAbove)
	return f.IDOf(run)
}

// IDOf returns the id of the worker with that run directory, see [RunDirAbove].
func (f *Finder) IDOf(run string) string {
	if run == "" {
		// A worker whose shim died can't be proven otherwise; a wrong match only makes it
		// the last one to be ended.
		return f.lookupEnv(swarm.EnvWorkerID)
	}
	id := filepath.Base(run)
	if !statedir.SameFile(run, f.Dir.RunDir(id)) {
		return ""
	}
	return id
}

// Within returns the ids of the workers of this state directory in which the calling
// process runs: the nearest one, those from which that one was started, and those that
// spawned one of these. Marks of shims in the environment are ignored. Below no shim, it is a
// part of the workers that the environment of a process above names, and of those in whose
// terminal session one was started: it may have left one of them.
func (f *Finder) Within() []string { return f.around(true) }

// Spawners returns the ids of the workers that spawn a worker if the calling process does: those
// of [Finder.Within], without those that are only in the same terminal session, where a person
// may have opened a window.
func (f *Finder) Spawners() []string { return f.around(false) }

func (f *Finder) around(session bool) []string {
	if f.Worker != "" {
		return f.withSpawners([]string{f.Worker})
	}
	ids := f.belowShims()
	if len(ids) > 0 {
		return f.withSpawners(ids)
	}
	chain := chainFrom(ParentPID(), f.lookupEnv)
	ids = named(chain)
	if session {
		for _, run := range sessionMates(chain) {
			if id := filepath.Base(run); statedir.SameFile(run, f.Dir.RunDir(id)) {
				ids = append(ids, id)
			}
		}
	}
	return f.withSpawners(ids)
}

// withSpawners adds the workers that spawned one of those.
func (f *Finder) withSpawners(ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()
	for _, id := range slices.Clone(ids) {
		if rec, ok := f.record(ctx, id); ok {
			ids = append(ids, rec.SpawnedBy...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// named returns the ids that the environments of a chain of processes have.
func named(chain []link) (ids []string) {
	for _, p := range chain {
		if id := p.env(swarm.EnvWorkerID); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// belowShims returns the ids of the workers below whose shims the calling process runs.
func (f *Finder) belowShims() []string {
	var ids []string
	pid, seen := ParentPID(), map[int]bool{}
	for pid > 1 && !seen[pid] {
		seen[pid] = true
		p, err := proc.Read(pid)
		if err != nil {
			break
		}
		if len(ids) > 0 && p.Name == multiplexer {
			break // the server of a user, which any worker may have started
		}
		pid = p.Parent
		run := provenRunDir(p)
		if run == "" {
			continue
		}
		id := filepath.Base(run)
		if !statedir.SameFile(run, f.Dir.RunDir(id)) {
			continue
		}
		ids = append(ids, id)
		file, err := f.Dir.ReadWorkerFile(id)
		if err == nil && file.Shell != nil && file.Owner != nil && OwnerLives(*file.Owner) {
			pid = file.Owner.PID // a shell that a tool started, for the one that owns it
		}
	}
	return ids
}

// multiplexer is the kernel's name of a tmux server.
const multiplexer = "tmux: server"

// RunDir returns the run directory of the worker in which the calling process runs, or, for
// a shell that acts as its owner, that of the owner's worker; empty if it runs in none.
func (f *Finder) RunDir() string {
	if f.Worker != "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()
	if run, _ := f.nearestRun(ctx, ParentPID(), RunDirAbove); run != "" {
		return run
	}
	return RunDirAbove(ParentPID())
}

// IsShim reports whether the calling process carries the mark of a shim, or serves a worker
// from outside, so that it is part of no worker, wherever it was started.
func (f *Finder) IsShim() bool { return f.Worker != "" || f.lookupEnv(swarm.EnvShim) != "" }

// ParentPID returns the pid of the process that started this one, as /proc has it. In a
// PID namespace without a /proc of its own, getppid returns another number.
func ParentPID() int {
	if self, err := proc.Self(); err == nil {
		return self.Parent
	}
	return os.Getppid()
}

// RunDirAbove returns the run directory of the nearest shim above the process pid, itself
// included; empty if there is none. A worker that contains another shim does not contain
// the processes below that. Any process can have the mark of a shim, so the result says which
// worker the caller would end, but does not identify the caller: see [shimAbove].
func RunDirAbove(pid int) string {
	below, run := lineUp(pid)
	// To read environments takes longer than all else here, and most callers have no shim
	// above them.
	if run != "" && slices.ContainsFunc(below, marked) {
		return ""
	}
	return run
}

// marked reports whether a process carries the mark of a shim, or runs in the server of an engine.
func marked(p proc.Process) bool {
	marks, err := rundir.MarksOf(p.PID)
	return err == nil && (marks.Shim != "" || marks.IsServer(p, ""))
}

// shimAbove returns the run directory of the nearest shim above the process pid, itself
// included, ignoring marks in between; empty if there is none.
func shimAbove(pid int) string {
	_, run := lineUp(pid)
	return run
}

// climb goes up from the process pid to the nearest shim, whose run directory it returns,
// or until stop returns true. Shims of other users prove nothing and are skipped.
func climb(pid int, stop func(proc.Process) bool) string {
	for pid > 1 {
		p, err := proc.Read(pid)
		if err != nil {
			return ""
		}
		if dir := provenRunDir(p); dir != "" {
			return dir
		}
		if stop(p) {
			return ""
		}
		pid = p.Parent
	}
	return ""
}

// provenRunDir returns the run directory of a process if it is a shim of this user, else
// "". The process and the directory must be this user's or root's: the owner of the
// process, or can write the directory, can make them name each other.
func provenRunDir(p proc.Process) string {
	dir := shimDir(p.PID)
	if dir == "" || !hasStatus(dir) {
		return "" // as of most processes
	}
	if !proc.RunsAs(p.PID, os.Geteuid()) || trust.Path(dir) != nil || !keeps(dir, p.Identity) {
		return ""
	}
	return dir
}

// recordLimit is how long a record may take to be read: a registry that is locked must not stand
// between a caller and a kill.
const recordLimit = 3 * time.Second

const startLimit = 10 * time.Second

// hasStatus reports whether a shim has written its status into a directory. A worker may
// call swarm before its shim gets to write it, so a shim that is starting is waited for.
func hasStatus(dir string) bool {
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	if exists(rundir.StatusFile) {
		return true
	}
	if !exists(rundir.WorkerFile) {
		return false // as of nearly all directories
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return trust.Path(dir) == nil && client.AwaitStart(ctx, dir) == nil && exists(rundir.StatusFile)
}

// keeps reports whether the process is the shim that a run directory names.
func keeps(dir string, id proc.Identity) bool {
	s, err := statedir.ReadStatus(dir)
	return err == nil && s.Shim == id
}
