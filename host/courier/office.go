package courier

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
)

// Options say what an [Office] needs.
type Options struct {
	Dir     statedir.Dir
	Plugins *backend.Plugins
	Display *display.Reader
	Input   *input.Sender
	Callers *caller.Finder
	Logger  hclog.Logger
	// Executable is the program that becomes a courier, Env the environment that it gets.
	Executable string
	Env        func() []string
	// Quiet says that no courier is sent.
	Quiet bool
	// View and Change read and change the registry in one transaction; View is
	// [io/fs.ErrNotExist] where there is none.
	View, Change func(context.Context, func(context.Context, *registry.Tx) error) error
	// Reopen has View and Change open the database that is in place now.
	Reopen func()
}

// Office sends couriers, and holds their dependencies. Its methods may be called
// concurrently.
type Office struct {
	dir          statedir.Dir
	plugins      *backend.Plugins
	display      *display.Reader
	input        *input.Sender
	callers      *caller.Finder
	log          hclog.Logger
	executable   string
	env          func() []string
	quiet        bool
	view, change func(context.Context, func(context.Context, *registry.Tx) error) error
	reopen       func()
}

// New returns an office.
func New(o Options) *Office {
	return &Office{
		dir: o.Dir, plugins: o.Plugins, display: o.Display, input: o.Input, callers: o.Callers, log: o.Logger,
		executable: o.Executable, env: o.Env, quiet: o.Quiet, view: o.View, change: o.Change, reopen: o.Reopen,
	}
}

func (o *Office) warnIf(err error, message string, pairs ...any) {
	if err != nil {
		o.log.Warn(message, append(pairs, "error", err)...)
	}
}
