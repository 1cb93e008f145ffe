package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// Env is what a call of a tool works with.
type Env struct {
	// Open opens a host for one call, which closes it.
	Open func(ctx context.Context) (*host.Host, error)
	// Dir is the working directory of commands that name none, absolute; empty: it
	// can't be told, as of a directory that was deleted.
	Dir string
	// Session is whose the shells are; zero: the caller's.
	Session shell.Session
	// AgentCommand is what spawn-agent starts if its input has no command.
	AgentCommand []string
	// NoAgentCommand says why that of a config is not used; empty: there is none.
	NoAgentCommand string
	// Progress is told how a call that takes long goes on; total is 0 where it is
	// not known. Nil: nobody.
	Progress func(text string, done, total float64)
}

var errNoDir = errors.New("cannot tell the working directory")

// noCommand says that there is no command for an agent.
func (env Env) noCommand() error {
	if env.NoAgentCommand != "" {
		return fmt.Errorf("no command for the agent: %s", env.NoAgentCommand)
	}
	return errNoCommand
}

// dir is the directory that an input means, absolute.
func (env Env) dir(named string) (string, error) {
	switch {
	case filepath.IsAbs(named):
		return named, nil
	case env.Dir == "":
		return "", errNoDir
	default:
		return filepath.Join(env.Dir, named), nil
	}
}
