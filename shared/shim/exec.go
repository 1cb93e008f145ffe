package shim

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Exec returns the program that has the shim of a running worker run a command, see [swarm.Execer]:
// swarm-shim, which o.Shim names. The command is started by the shim, or by the first process in the sandbox
// of the worker.
func Exec(dir, id string, o swarm.ExecOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	switch s, err := Status(dir, id); {
	case err != nil:
		return swarm.Program{}, err
	case s.State != swarm.StateRunning:
		return swarm.Program{}, fmt.Errorf("%w: the worker has ended", swarm.ErrNotFound)
	case s.Paused:
		return swarm.Program{}, fmt.Errorf("%w: the worker is paused; resume it first", swarm.ErrUnavailable)
	}
	args, err := rundir.ExecArgs(dir, id, rundir.Exec{Dir: o.Dir, Command: o.Command, Env: o.Env, Terminal: o.TTY})
	if err != nil {
		return swarm.Program{}, fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
	}
	return swarm.Program{Command: append([]string{o.Shim}, args...)}, nil
}
