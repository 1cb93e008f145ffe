// Package roster answers the questions that every verb asks about workers: which are selected, how they
// are now, may the caller end them, and does the caller run inside one of them.
package roster

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Roster answers for the workers of one state directory. It holds no state, and may be used by
// several goroutines. Its fields are what it needs.
type Roster struct {
	Dir     statedir.Dir
	Store   *store.Store
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	Callers *caller.Finder
	Logger  hclog.Logger
}
