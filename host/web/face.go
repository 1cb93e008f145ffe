package web

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Host is what a server asks. A [host.Host] is one.
type Host interface {
	lister
	reader
	doer
	// Meter returns what measures workers.
	Meter() *stats.Meter
}

// lister tells which workers there are, and what has become of them.
type lister interface {
	Workers(ctx context.Context, sel host.Selection) ([]host.Worker, []string, error)
	Watch(ctx context.Context, req watch.Request) error
	Details(ctx context.Context, name string, req host.DetailsRequest) (host.Details, []string, error)
	Events(ctx context.Context, q history.Query) ([]history.Event, error)
	View(ctx context.Context, view func(context.Context, *registry.Tx) error) error
}

// reader reads what a worker shows.
type reader interface {
	Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error
	Peek(ctx context.Context, name string, lines int) (host.Peek, error)
}
