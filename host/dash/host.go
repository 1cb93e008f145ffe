package dash

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Source tells which workers there are, and when they change.
type Source interface {
	Workers(ctx context.Context, sel host.Selection) ([]host.Worker, []string, error)
	Watch(ctx context.Context, req watch.Request) error
}

// Reader returns what a worker writes and shows.
type Reader interface {
	Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error
	Peek(ctx context.Context, name string, lines int) (host.Peek, error)
}

// Doer carries out verbs.
type Doer interface {
	Deliver(ctx context.Context, sel host.Selection, req host.DeliverRequest) ([]host.SendOutcome, error)
	Send(ctx context.Context, sel host.Selection, in swarm.Input) ([]host.SendOutcome, error)
	Answer(ctx context.Context, name, choice, question string) (deliver.Answered, error)
	Kill(ctx context.Context, sel host.Selection, req host.KillRequest) ([]host.KillOutcome, error)
	Respawn(ctx context.Context, name string, req host.RespawnRequest) (host.Worker, error)
	Clean(ctx context.Context, sel host.Selection, req host.CleanRequest) ([]host.CleanOutcome, error)
}

// Host is what every dashboard asks. A [host.Host] is one.
type Host interface {
	Source
	Reader
	Doer
	Details(ctx context.Context, name string, req host.DetailsRequest) (host.Details, []string, error)
	Events(ctx context.Context, q history.Query) ([]history.Event, error)
	Meter() *stats.Meter
}
