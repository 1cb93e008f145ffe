// Package backend talks to the plugins that own workers and make workspaces. It finds
// out which plugin a record means, starts it when it is first asked, asks once more if its
// process ends in a call that may be repeated, and groups workers by the plugin that owns
// them. It knows no plugin by name and nothing of what its answers mean for a worker.
package backend

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/statedir"
)

// Options say what [Plugins] need.
type Options struct {
	Dir     statedir.Dir
	Catalog *catalog.Catalog
	Logger  hclog.Logger
	// Starter starts the plugins.
	Starter Starter
	// Waiting is told what a call waits for that takes longer than usual; nil: nobody.
	Waiting func(text string)
}

// Plugins are the plugins of one host. Methods may be called at the same time.
type Plugins struct {
	Starter
	dir     statedir.Dir
	catalog *catalog.Catalog
	log     hclog.Logger
	waiting func(string)
}

// New returns plugins of which none is started yet.
func New(o Options) *Plugins {
	return &Plugins{Starter: o.Starter, dir: o.Dir, catalog: o.Catalog, log: o.Logger, waiting: o.Waiting}
}
