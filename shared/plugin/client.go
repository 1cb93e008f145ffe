package plugin

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Kind says what a plugin implements.
type Kind string

// The kinds of plugins. Readers keep kinds that they do not know.
const (
	KindBackend   Kind = "backend"   // [swarm.Backend]
	KindWorkspace Kind = "workspace" // [swarm.Workspace]
)

// Info says what a plugin is.
type Info struct {
	// Name and Version are those of its [Options].
	Name, Version string
	// Kind is what it implements; empty if this host does not know it.
	Kind Kind
	// Contract is the version of the contract that it was built with.
	Contract int
	// Local is that of its [Options].
	Local bool
	// Capabilities are the optional interfaces that it implements. None if it
	// could not make itself ready, and before [Client.Configure] where that is
	// called.
	Capabilities []swarm.Capability
}

// Has reports whether the plugin has the capability.
func (i Info) Has(c swarm.Capability) bool { return slices.Contains(i.Capabilities, c) }

// ConnectOption is an option of [Connect].
type ConnectOption int

// ConfigFollows tells that [Client.Configure] is called next. Without it the
// plugin makes itself ready at once, without settings.
const ConfigFollows ConnectOption = 1

// Client is a plugin seen from the host. Its methods may be called at the same
// time. It owns nothing: ending the plugin is up to who started it.
type Client struct {
	info Info
}

// Connect asks a plugin what it is. dispensed is what go-plugin dispensed for
// [PluginName]. A plugin of another contract version is a [*ContractError]. A
// plugin that can't work, such as one with settings that are wrong, can be
// connected to all the same: its calls say why, first of all [Client.Check].
func Connect(ctx context.Context, dispensed any, opts ...ConnectOption) (*Client, error) {
	return nil, nil
}

// Info returns what the plugin is.
func (c *Client) Info() Info { return c.info }

// Configure gives the plugin its settings, a JSON object. It is called at most
// once, and only right after Connect with [ConfigFollows]; host and plugin save
// a round trip where there are no settings. Settings that are wrong are
// [swarm.ErrInvalidConfig].
func (c *Client) Configure(ctx context.Context, json []byte) error { return nil }

// Check tells whether the plugin can work, see [swarm.Checker]. A plugin without
// that capability can if it could make itself ready.
func (c *Client) Check(ctx context.Context) error { return nil }

// Backend returns the backend, or nil if the plugin is of another kind.
func (c *Client) Backend() *Backend { return nil }

// Workspace returns the workspace plugin, or nil if the plugin is of another
// kind.
func (c *Client) Workspace() *Workspace { return nil }
