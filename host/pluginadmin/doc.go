// Package pluginadmin administers plugins: it lists them with their health, installs,
// verifies and removes versions of them, shows their logs, and runs them under a debugger. Else it
// starts a plugin only to read its description and to check that it works, never for a worker. It refuses to remove a plugin that
// running workers need.
package pluginadmin

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/source"
	"github.com/swarmhost/swarm/host/store"
)

// Admin administers the plugins of a state directory. Its fields are what it needs.
type Admin struct {
	// Dir is the state directory, in which plugins are installed.
	Dir     string
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
	Store   *store.Store
	Logger  hclog.Logger
	// Env and Command are as in [launch.Options], for a plugin under a debugger.
	Env     []string
	Command string
	// Sources finds what is to be downloaded.
	Sources source.Resolver
}
