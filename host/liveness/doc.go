// Package liveness reads the signs of life of the agents of teams from the registry, the run
// directories and, if these are not enough, from backends; package host/team judges the signs.
package liveness

import (
	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Checker reads the signs of life of one state directory. Its methods may be called concurrently.
type Checker struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	History *history.History
}
