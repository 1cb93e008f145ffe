package dash

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
)

// Parts is a [host.Host] as dashboards ask it: its own methods that they need, and those of its
// parts.
type Parts struct {
	whole
	*store.Store
	*watch.Watcher
	*display.Reader
	*history.History
	*input.Sender
	*spawn.Spawner
	*kill.Killer
}

type whole interface {
	Workers(ctx context.Context, sel worker.Selection) ([]worker.Worker, []string, error)
	Details(ctx context.Context, name string, req host.DetailsRequest) (host.Details, []string, error)
	Meter() *stats.Meter
	Workspaces() *compare.Workspaces
	Saved() *saved.Rescues
}

// PartsOf returns the parts of a host.
func PartsOf(h *host.Host) Parts {
	return Parts{h, h.Store(), h.Watch(), h.Display(), h.History(), h.Input(), h.Spawn(), h.Kill()}
}
