package caller

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// envTerminal is the variable by which a terminal multiplexer says to a process in
// which of its sessions it was started: the path of a socket, the pid of the server
// and a number, with commas between them.
const envTerminal = "TMUX"

// unproven returns the caller that a process is which has no shim above it and no
// token. It is a person, unless
//
//   - its environment, or that of a process above it, names a worker or an agent: then
//     it may have left that worker's tree, and is at most that worker's agent;
//   - it was started in a terminal session in which workers run: then one of them may
//     have opened a window or a job there.
//
// If several answers are possible, it returns a [team.UnprovenError]. The process is
// pid, or if env is not nil, a child of pid with that environment.
func (f *Finder) unproven(ctx context.Context, pid int, env func(string) string) (team.Caller, error) {
	chain := chainFrom(pid, env)
	for _, p := range chain {
		if id := p.env(swarm.EnvWorkerID); id != "" {
			return f.claimed(ctx, id)
		}
		for _, name := range []string{swarm.EnvWorker, EnvAgentID} {
			if p.env(name) != "" {
				return team.Caller{}, &team.UnprovenError{Why: name + " is in the environment, but the worker that it names is not above this process"}
			}
		}
	}
	runs := sessionMates(chain)
	if len(runs) == 0 {
		return team.Caller{Person: true}, nil
	}
	return f.among(ctx, runs)
}

// claimed returns the identity of a process whose worker is known only from its
// environment. Workers without a shim have no other proof. For a worker with a shim, the
// environment makes the caller a member of its team, but never a leader.
func (f *Finder) claimed(ctx context.Context, id string) (team.Caller, error) {
	unproven := &team.UnprovenError{Why: swarm.EnvWorkerID + " is in the environment, but the worker that it names is not above this process"}
	if filepath.Base(id) != id {
		return team.Caller{}, unproven
	}
	caller, err := f.inhabitant(ctx, id)
	if err != nil {
		return team.Caller{}, err
	}
	if !f.hasShim(id) {
		return caller, nil
	}
	if caller.Agent == "" || caller.Role == registry.RoleLeader {
		return team.Caller{}, unproven
	}
	return caller, nil
}

// among returns the identity of a process that was started next to the workers with those
// run directories: that of the only worker, or of the only agent.
func (f *Finder) among(ctx context.Context, runs []string) (team.Caller, error) {
	var names []string
	var agents []team.Caller
	for _, run := range runs {
		caller, err := f.resident(ctx, run)
		if err != nil {
			return team.Caller{}, err
		}
		if len(runs) == 1 {
			return caller, nil
		}
		if caller.Agent != "" {
			agents = append(agents, caller)
		}
		name := filepath.Base(run)
		if rec, ok := f.record(ctx, name); ok {
			name = rec.Name
		}
		names = append(names, "'"+name+"'")
	}
	if len(agents) == 1 {
		return agents[0], nil
	}
	slices.Sort(names)
	return team.Caller{}, &team.UnprovenError{
		Why: "this is the terminal session of the workers " + strings.Join(names, ", ") + ", but not inside of one of them; call from there, or from a terminal outside of that session",
	}
}

// link is one of the processes from a caller up to the first of the system.
type link struct {
	pid, parent int
	env         func(name string) string
}

// chainFrom returns the process pid and all above it. If env is not nil, a child of
// pid that has that environment comes first.
func chainFrom(pid int, env func(string) string) []link {
	var chain []link
	if env != nil {
		chain = append(chain, link{parent: pid, env: env})
	}
	for pid > 1 {
		p, err := proc.Read(pid)
		if err != nil {
			break
		}
		chain = append(chain, link{pid: pid, parent: p.Parent, env: func(name string) string {
			value, _ := proc.Getenv(p.PID, name)
			return value
		}})
		pid = p.Parent
	}
	return chain
}

// sessionMates returns the run directories of the workers in whose terminal sessions
// one of the processes was started.
func sessionMates(chain []link) (runs []string) {
	for _, p := range chain {
		session := p.env(envTerminal)
		server := serverOf(session)
		if server > 1 && server != p.parent {
			// It may have left the server, as a daemon.
			runs = append(runs, mates(server, session)...)
		}
		if p.parent > 1 {
			if server != p.parent {
				session = "" // the answer of the server is unknown
			}
			runs = append(runs, mates(p.parent, session)...)
		}
		// A session that only shows a worker is that worker's session.
		if home := p.env(swarm.EnvView); serverOf(home) > 1 {
			runs = append(runs, mates(serverOf(home), home)...)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs)
}

// mates returns the run directories of the workers that a server started in a
// session; in any, if that is empty. The shim of a worker that has no window has no
// terminal, although it may have the same parent.
func mates(server int, session string) (runs []string) {
	children, err := proc.Children(server)
	if err != nil {
		return nil
	}
	for _, p := range children {
		if !p.Terminal {
			continue
		}
		run := provenRunDir(p)
		if run == "" {
			continue
		}
		// It can't be read from within a user namespace.
		own, _ := proc.Getenv(p.PID, envTerminal)
		if own == "" || session == "" || own == session {
			runs = append(runs, run)
		}
	}
	return runs
}

// serverOf returns the pid of the server that a session's variable names; 0 if it
// names none.
func serverOf(session string) int {
	parts := strings.Split(session, ",") // a socket's path may have commas too
	n := len(parts)
	if n < 3 || parts[n-1] == "-1" {
		return 0 // as of a job of no session
	}
	server, err := strconv.Atoi(parts[n-2])
	if err != nil {
		return 0
	}
	return server
}
