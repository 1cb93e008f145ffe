// Package kill ends workers and removes their workspaces, run directories and records. It
// asks the backends of all of them at once, records each end in one change with its agent
// and its history, and never takes silence for an end. The host selects the workers and
// checks the caller's rights.
package kill

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// Options say what a [Killer] needs.
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	History *history.History
	Logger  hclog.Logger
	// Find returns the records of the selected workers.
	Find func(context.Context, worker.Selection) ([]registry.Record, []string, error)
	// Settled returns the record of a worker that was starting once its spawn is over.
	Settled func(context.Context, registry.Record) (registry.Record, error)
	// Observe asks backends how workers are.
	Observe func(context.Context, []registry.Record) []worker.Worker
	// MayEnd refuses to end workers for a caller without the right.
	MayEnd func(context.Context, ...registry.Record) error
	// Inside returns the place of the worker that the caller runs in, or -1.
	Inside func([]registry.Record) int
}

// Killer ends workers. Its methods may be called at the same time.
type Killer struct{ opts Options }

// New returns a killer.
func New(o Options) *Killer { return &Killer{opts: o} }

func (k *Killer) warnIf(err error, message string, pairs ...any) {
	if err != nil {
		k.opts.Logger.Warn(message, append(pairs, "error", err)...)
	}
}
