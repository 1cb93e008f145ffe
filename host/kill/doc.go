// Package kill ends workers and removes their workspaces, run directories and records. It
// asks the backends of all of them at once, records each end in one change with its agent
// and its history, and never takes silence for an end. The host selects the workers and
// checks the caller's rights.
package kill

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Killer ends workers. Its methods may be called at the same time. Its fields are what it needs.
type Killer struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	History *history.History
	Roster  *roster.Roster
	Settler *settle.Settler
	Logger  hclog.Logger
}
