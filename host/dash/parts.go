package dash

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Source reports which workers there are, and when they change.
type Source interface {
	Workers(ctx context.Context, sel worker.Selection) ([]worker.Worker, []string, error)
	Watch(ctx context.Context, req watch.Request) error
}

// Reader returns what a worker writes and shows.
type Reader interface {
	Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error
	Peek(ctx context.Context, name string, lines int) (display.Peek, error)
}

// Doer carries out verbs.
type Doer interface {
	Deliver(ctx context.Context, sel worker.Selection, req input.DeliverRequest) ([]input.Outcome, error)
	Send(ctx context.Context, sel worker.Selection, in swarm.Input) ([]input.Outcome, error)
	Press(ctx context.Context, sel worker.Selection, req input.KeysRequest) ([]input.Outcome, error)
	Answer(ctx context.Context, name string, r deliver.Reply) (deliver.Answered, error)
	Kill(ctx context.Context, sel worker.Selection, req kill.Request) ([]kill.Outcome, error)
	Respawn(ctx context.Context, name string, req spawn.RespawnRequest) (worker.Worker, error)
	Clean(ctx context.Context, sel worker.Selection, req kill.CleanRequest) ([]kill.Outcome, error)
}

// Host is what every dashboard asks, see [PartsOf].
type Host interface {
	Source
	Reader
	Doer
	Details(ctx context.Context, name string, req host.DetailsRequest) (host.Details, []string, error)
	Events(ctx context.Context, q registry.EventQuery) ([]registry.Event, error)
	Meter() *stats.Meter
}

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

func PartsOf(h *host.Host) Parts {
	return Parts{h, h.Store(), h.Watch(), h.Display(), h.History(), h.Input(), h.Spawn(), h.Kill()}
}
