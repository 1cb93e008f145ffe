// Package doctor finds damage and leftovers in a state directory, and the remedies for
// them. With a rebuild it recreates the registry from the run directories and from the
// readable part of the damaged one. It changes nothing else, and ends no worker.
package doctor

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/saved"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Options say what [Examine] looks at.
type Options struct {
	Dir      statedir.Dir
	Store    *store.Store
	Catalog  *catalog.Catalog
	Plugins  *backend.Plugins
	Admin    *pluginadmin.Admin
	History  *history.History
	Notifier *notifier.Notifier
	Saved    *saved.Rescues
	Profiles *profile.Loader
	Logger   hclog.Logger
	// Wanted are the names of plugins that the caller's configuration asks for, and Settings
	// those that it configures. A plugin that lacks a program, such as git or tmux, is an error
	// only if it is among these, or if a worker was made with it.
	Wanted   []string
	Settings map[string]catalog.Config
	// DefaultWorkspace is the plugin of workspaces for which none is named.
	DefaultWorkspace string
}
