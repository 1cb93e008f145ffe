// Package spawn starts and respawns workers, and adopts those of other hosts. A spawn is a
// plan that is checked, entered into the registry, carried out step by step, and undone if
// a step fails. A later call settles an interrupted spawn: it adopts the worker or marks it
// failed. A respawn ends a worker and starts a new one in its place.
package spawn

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/roster"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spawner starts workers. Its methods may be called at the same time. Its fields are what it needs.
type Spawner struct {
	Dir     statedir.Dir
	Store   *store.Store
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	History *history.History
	Display *display.Reader
	Roster  *roster.Roster
	Settler *settle.Settler
	Callers *caller.Finder
	Killer  *kill.Killer
	// Notifier notifies the agent of a respawned worker, whose new process knows of nothing.
	Notifier *notifier.Notifier
	Logger   hclog.Logger
	// Env is the caller's environment, Executable the path of swarm itself.
	Env        []string
	Executable string
	// KillPolicy and OutputLimit are for workers that are spawned without their own.
	KillPolicy  swarm.KillOptions
	OutputLimit int64
	// Defaults are for all workers.
	Defaults Defaults
	// DefaultWorkspace is the plugin of workspaces for which none is named.
	DefaultWorkspace string
}
