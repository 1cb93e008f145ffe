package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// Env is what a call of a tool works with.
type Env struct {
	// Open opens a host for one call, which closes it.
	Open func(ctx context.Context) (*host.Host, error)
	// Dir is the working directory of commands that name none, absolute.
	Dir string
	// Session is whose the shells are; zero: the caller's.
	Session shell.Session
	// AgentCommand is what spawn-agent starts if its input has no command.
	AgentCommand []string
	// Progress is told how a call that takes long goes on; total is 0 where it is
	// not known. Nil: nobody.
	Progress func(text string, done, total float64)
}
