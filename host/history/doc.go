// Package history records and returns the events of workers. It derives events and the
// changes of records from the reports of backends and shims, so every process would write
// the same, and it removes the records and run directories whose retention has ended. By
// itself it reads only the journal of the shims: package watch and the verbs ask the
// backends.
package history

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// History writes the history of one state directory. Methods may be called at the same
// time. Its fields are what it needs.
type History struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	Logger  hclog.Logger
}
