// Package pluginadmin administers plugins: it lists them with their health, installs,
// verifies and removes versions of them. It starts a plugin only to read its description
// and to check that it works, never for a worker. It refuses to remove a plugin that
// running workers need.
package pluginadmin

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/registry"
)

// Options are the dependencies of an [Admin].
type Options struct {
	// Dir is the state directory, in which plugins are installed.
	Dir     string
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	Logger  hclog.Logger
	// Reading returns the registry for reads, or nil where there never was one.
	Reading func(context.Context) (*registry.Registry, error)
	// Removed is called after versions were removed.
	Removed func() error
}

// Admin administers the plugins of a state directory.
type Admin struct{ opts Options }

// New returns an administration of plugins.
func New(o Options) *Admin { return &Admin{opts: o} }
