// Package doctor finds damage and leftovers in a state directory, and the remedies for
// them. With a rebuild it recreates the registry from the run directories and from the
// readable part of the damaged one. It changes nothing else, and ends no worker.
package doctor

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Options say what [Examine] looks at.
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	Admin   *pluginadmin.Admin
	History *history.History
	Logger  hclog.Logger
	// Wanted are the names of plugins that the caller's configuration asks for, and
	// Configured reports whether it has settings for one. A plugin that lacks a program,
	// such as git or tmux, is an error only if it is wanted or configured, or if a worker
	// was made with it.
	Wanted     []string
	Configured func(name string) bool
	// DefaultWorkspace is the plugin of workspaces whose records name none.
	DefaultWorkspace string
	// Couriers returns what is found about the processes that stand beside workers: couriers,
	// and the servers of workers in containers.
	Couriers func(recs []registry.Record) []Finding
	// Profiles returns what is found about the profiles of agents.
	Profiles func() []Finding
	// Saved returns the work that was saved from removed workspaces.
	Saved func(context.Context) ([]swarm.SavedWork, error)
}
