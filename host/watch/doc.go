// Package watch finds the ends that no other call has recorded, has them recorded, and acts
// on due events: the end of an owner, of a retention time, of an agent's time without a
// sign of life. It does so once ([Watcher.Collect]) or until its context ends
// ([Watcher.Watch]), in any number of processes at the same time. Package history chooses
// the words of an end.
package watch

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Options say what a [Watcher] needs.
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	History *history.History
	Settler *settle.Settler
	Logger  hclog.Logger

	// KeepEvents is for how long events stay in the history; 0: without limit.
	KeepEvents time.Duration

	// Kill kills a worker whose owner has ended, and reports whether it had not ended
	// before.
	Kill func(ctx context.Context, rec registry.Record) (killed bool, err error)
	// Unfinished finishes interrupted removals of workspaces whose directory is gone, and
	// returns their workers.
	Unfinished func(ctx context.Context) ([]registry.Record, error)
	// SweepTeams records what became of the agents of all teams; TeamsLive reports
	// whether there is anything to sweep.
	SweepTeams func(ctx context.Context) (warnings []string, err error)
	TeamsLive  func(ctx context.Context) (bool, error)
	// Wake wakes the agents for which something waits.
	Wake func(ctx context.Context)
	// Profiled returns the records of the workers whose state can be told; TellStates
	// records their states.
	Profiled   func(recs []registry.Record) []registry.Record
	TellStates func(ctx context.Context, reg *registry.Registry, recs []registry.Record) error
}

// Watcher looks after the workers of one state directory.
type Watcher struct{ opts Options }

// New returns a watcher.
func New(o Options) *Watcher { return &Watcher{opts: o} }

func (h *Watcher) warnIf(err error, message string, pairs ...any) {
	if err != nil {
		h.opts.Logger.Warn(message, append(pairs, "error", err)...)
	}
}
