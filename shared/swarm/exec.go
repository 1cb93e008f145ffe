package swarm

import (
	"context"
	"strconv"
	"strings"
)

// Execer runs further commands in the surroundings of a running worker.
type Execer interface {
	// Exec returns the program that runs a command in the worker, in the place of the host's
	// process. It changes nothing: the command runs when, and as often as, the program does.
	//
	// The command has what the worker's main process has: its machine or container, its sandbox, its
	// limits, its user, its environment as that process was started with it, and its directory. It
	// belongs to the worker: [Backend.Kill] ends it, [Measurer] counts it, and it ends with the worker,
	// whose life it does not prolong. Its output does not count as the worker's, and its end is not the
	// worker's. A backend that can't run the command under these conditions refuses it, and never runs it
	// elsewhere.
	//
	// A worker that has ended is [ErrNotFound]; one that runs nothing at the moment, between two starts or
	// while it is paused, is [ErrUnavailable], as far as Exec can see it already; otherwise the program fails.
	Exec(ctx context.Context, h Handle, o ExecOptions) (Program, error)
}

// ExecOptions say what to run in a worker.
type ExecOptions struct {
	// Command is the program and its arguments, at least one element. It is found with the PATH of
	// the worker.
	Command []string
	// Dir is where it runs: absolute, or relative to the directory of the worker; empty: there.
	Dir string
	// Env are variables, KEY=VALUE, that replace those of the worker or are added to them.
	Env []string
	// TTY gives the command a terminal of its own, of the size of the one that the program runs on.
	// Without that the command has the standard streams of the program as they are.
	TTY bool
	// Shim is the path of the swarm-shim executable, absolute. It is set for local backends only.
	Shim string
}

// Check returns an [ErrInvalidSpec] if there is no command, or if Env has an entry that is not
// KEY=VALUE.
func (o ExecOptions) Check() error {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return &specError{"no command to run in the worker"}
	}
	for _, entry := range o.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" {
			return &specError{strconv.Quote(entry) + " is not a variable: expected KEY=VALUE"}
		}
	}
	return nil
}

// Program is a program that runs in the place of the host's process, with its standard streams, see also [Copier]
// and [Forwarder].
//
// For [Execer] it exits as the command does: with its code, or with 128 and the number of the signal
// that ended it. If the command could not be run, it prints the reason and exits with 127 for a command
// that does not exist, with 126 for one that can't be started, and with 125 for any other failure. When
// the program is ended, in any way, the command is ended too, with SIGTERM and soon after with SIGKILL.
type Program struct {
	// Command is the program and its arguments.
	Command []string
	// Env are variables to add to the environment of the host, Unset variables to remove.
	Env, Unset []string
}
