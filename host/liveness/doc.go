// Package liveness determines which agents of teams are alive, silent or gone, and records
// that. It reads signs of life from the registry, the run directories and, if these are not
// enough, from backends and screens; package host/team judges the signs. It ends no agent
// and checks no rights.
package liveness

import (
	"context"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
)

// Options say what a [Checker] needs.
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	// History writes the ends of workers down; only [Checker.Sweep] and [Checker.Signs]
	// need it.
	History *history.History
	Settler *settle.Settler
	// Shows returns what the screens of running workers mean for their agents, by the
	// workers' ids; a worker whose screen means nothing is left out or empty.
	Shows func(ctx context.Context, recs []registry.Record) map[string]team.Status
	// StopIdle ends the servers of a team, or of all, that no agent uses any more.
	StopIdle func(ctx context.Context, teamName string) error
}

// Checker looks after the agents of one state directory.
type Checker struct{ opts Options }

// New returns a checker.
func New(o Options) *Checker { return &Checker{opts: o} }
