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

// Options are the dependencies of a [Roster].
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	Callers *caller.Finder
	Logger  hclog.Logger
}

// Roster answers for the workers of one state directory. It holds no state, and may be used by
// several goroutines.
type Roster struct{ opts Options }

// New returns a roster.
func New(o Options) *Roster { return &Roster{opts: o} }
