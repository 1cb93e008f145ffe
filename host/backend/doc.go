// Package backend talks to the plugins that own workers and make workspaces. It finds the
// plugin of a record, starts it at the first call, repeats an idempotent call if the
// plugin's process ends in it, and groups workers by the plugin that owns them. It knows no
// plugin by name, and does not interpret the answers.
package backend

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/statedir"
)

// Options are the dependencies of [Plugins].
type Options struct {
	Dir     statedir.Dir
	Catalog *catalog.Catalog
	Logger  hclog.Logger
	// Starter starts the plugins.
	Starter Starter
	// DefaultWorkspace is the plugin of workspaces for which none is named.
	DefaultWorkspace string
	// Waiting, if it is not nil, is called with a description when a call takes longer than
	// usual.
	Waiting func(text string)
}

// Plugins are the plugins of one host. Methods may be called at the same time.
type Plugins struct {
	Starter
	opts Options
}

// New returns plugins without starting any.
func New(o Options) *Plugins { return &Plugins{Starter: o.Starter, opts: o} }
