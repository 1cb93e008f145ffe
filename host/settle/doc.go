// Package settle finishes what other processes have left unfinished. After an interrupted spawn,
// a worker that its backend finds is adopted, another one never was, and the record that a respawn
// was to replace is there again.
package settle

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/liveness"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Settler settles the spawns of one state directory. It holds no state, and may be used by several
// goroutines. Its fields are what it needs.
type Settler struct {
	Dir      statedir.Dir
	Store    *store.Store
	Plugins  *backend.Plugins
	History  *history.History
	Liveness *liveness.Checker
	Logger   hclog.Logger
}
