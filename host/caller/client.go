package caller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// withoutDaemon is a hint how to get a client that serves only one session.
const withoutDaemon = "start the client without its daemon ('codex --no-daemon')"

// checkClient returns a [team.UnprovenError] unless the client of this process, which
// is its parent, provably acts for the caller alone. A client may be a daemon that runs
// the servers of many sessions with the environment of the one that started it, so
// neither a token nor an environment is a proof here. The proof is
//
//   - for an agent or a leader in a worker: an unbroken line of processes from this one
//     up to the main process of that worker, see [lineToMain];
//   - for a person: a client that has not left their session, see [inForeground], or
//     their word for it;
//   - for a worker of a backend without shims: its token or environment, as there is no
//     other.
func (f *Finder) checkClient(ctx context.Context, caller team.Caller) error {
	self, err := proc.Self()
	if err != nil {
		return &team.UnprovenError{Why: "the process of this server can't be read: " + err.Error()}
	}
	line, run := lineUp(self.PID)
	switch {
	case run != "":
		if err := f.lineToMain(line, run); err != nil {
			return err
		}
		return f.sameWorker(ctx, caller)
	case caller.Person:
		if f.ClientIsPerson {
			return nil
		}
		return inForeground(line[1:])
	case f.hasShim(caller.WorkerID):
		return &team.UnprovenError{
			Why: "this server has the token or the environment of a worker, but does not run below that worker's main process; " + withoutDaemon,
		}
	}
	return nil
}

// lineUp returns the process pid and those above it, up to the nearest shim, whose run
// directory it returns, or to the first process of the system. Neither is part of the
// line.
func lineUp(pid int) (line []proc.Process, run string) {
	run = climb(pid, func(p proc.Process) bool {
		line = append(line, p)
		return false
	})
	return line, run
}

// lineToMain checks that a line of processes below a shim ends at the main process of its
// worker, and that no process of it has left the session of that one without taking a
// terminal, as daemons do: a daemon that an agent started stays below the agent's main
// process as long as that lives, and then becomes a child of the shim. The process at the
// start of the line is not checked: some clients start their servers in sessions of their
// own.
func (f *Finder) lineToMain(line []proc.Process, run string) error {
	status, err := statedir.ReadStatus(run)
	if err != nil || len(line) == 0 || line[len(line)-1].Identity != status.Main {
		return &team.UnprovenError{
			Why: "this server runs in a worker, but not below its main process, and may serve several sessions; " + withoutDaemon,
		}
	}
	top := len(line) - 1
	if top > 0 && f.isLoop(run) {
		top-- // the loop starts the agent in a session of its own
	}
	for i := 1; i < top; i++ {
		if p := line[i]; p.Session != line[top].Session && !p.Terminal {
			return &team.UnprovenError{Why: name(p) + " above this server is a daemon, which may serve several sessions; " + withoutDaemon}
		}
	}
	return nil
}

func (f *Finder) isLoop(run string) bool {
	id := filepath.Base(run)
	if !statedir.SameFile(run, f.Dir.RunDir(id)) {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordLimit)
	defer cancel()
	rec, ok := f.record(ctx, id)
	return ok && rec.Ralph
}

// sameWorker checks that the caller, which may be known by a token, belongs to the worker
// in which this process runs.
func (f *Finder) sameWorker(ctx context.Context, caller team.Caller) error {
	if f.lookupEnv(swarm.EnvToken) == "" {
		return nil
	}
	here, err := f.callerAt(ctx, ParentPID(), f.lookupEnv)
	if err != nil {
		return err
	}
	if here.WorkerID != caller.WorkerID {
		return &team.UnprovenError{Why: swarm.EnvToken + " is the token of an agent in another worker than the one that this server runs in; " + withoutDaemon}
	}
	return nil
}

// inForeground checks that a person's client has not left the session that it was
// started in. line are the client and the processes above it. As long as the client,
// or the process that leads to it in its session, has a controlling terminal, or was
// started by a process that lives on, it is taken for the person's own.
func inForeground(line []proc.Process) error {
	for i, p := range line {
		if p.Terminal {
			return nil
		}
		parent, err := proc.Read(p.Parent)
		if err != nil {
			return nil //nolint:nilerr // it is outside of this PID namespace
		}
		begins := p.Session != parent.Session
		// A wrapper between the two can't hide a daemon of a terminal. A client directly
		// below init is accepted: that is normal in a service, a container or a CI job.
		left := parent.Terminal || i == 0 && isInit(parent)
		if begins && left && (i == 0 || p.Session == p.PID) {
			return &team.UnprovenError{
				Why: name(p) + " above this server runs in the background, and may serve several sessions; " +
					"start the client in a terminal, without its daemon ('codex --no-daemon'), or see 'swarm mcp --help'",
			}
		}
		if begins {
			return nil
		}
	}
	return nil
}

// isInit reports whether a process adopts those whose parents have ended: the first
// one of the system, or the service manager of a user.
func isInit(p proc.Process) bool {
	return p.PID == 1 || p.Name == "systemd" || p.Name == "launchd"
}

// hasShim reports whether a worker of this state directory has a shim, which proves
// what runs below it.
func (f *Finder) hasShim(id string) bool {
	if id == "" || filepath.Base(id) != id {
		return id != "" // the run directory of another state directory
	}
	_, err := os.Lstat(filepath.Join(f.Dir.RunDir(id), rundir.StatusFile))
	return err == nil
}

func name(p proc.Process) string { return fmt.Sprintf("'%s' (pid %d)", safetext.Line(p.Name), p.PID) }

// Hook identifies the worker of the calling hook.
type Hook struct {
	// Run is the run directory of the worker.
	Run string
	// Main is the worker's main process, and agent the process that runs the hook.
	Main, Agent proc.Identity
	// Above are the processes above the agent, up to the main process.
	Above []proc.Identity
}

// Hook finds the agent whose hook the calling process is. It requires the same proof as for
// an MCP server, see [Finder.lineToMain]: a daemon may run hooks for agents in other workers.
func (f *Finder) Hook() (Hook, bool, error) {
	self, err := proc.Self()
	if err != nil {
		return Hook{}, false, err
	}
	line, run := lineUp(self.PID)
	if run == "" || len(line) < 2 {
		return Hook{}, false, nil
	}
	if err := checkShared(); err != nil {
		return Hook{}, false, err
	}
	// Clients run hooks in a shell, which ends with the hook.
	at := 1
	for at < len(line)-1 && slices.Contains(shells, line[at].Name) {
		at++
	}
	if err := f.lineToMain(line[at-1:], run); err != nil {
		return Hook{}, false, err
	}
	c := Hook{Run: run, Main: line[len(line)-1].Identity, Agent: line[at].Identity}
	for _, p := range line[at+1:] {
		c.Above = append(c.Above, p.Identity)
	}
	return c, true, nil
}

// shells are the names of shells that clients may run hooks in.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "busybox"}
