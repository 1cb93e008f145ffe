package plugin

import (
	"context"
	"log/slog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Options describe a plugin. Exactly one of Backend, Workspace, Tools and Notifier is set.
type Options struct {
	// Name is the plugin's name, as in swarm-plugin-<name>; valid by
	// [swarm.ValidName].
	Name string
	// Version is the plugin's own version, for people. Empty: unknown.
	Version string
	// Local says that the backend runs its workers on the host's machine, as the host's
	// user. Only then does it get [swarm.Local], which holds the caller's whole
	// environment.
	Local bool
	// Backend makes the backend. It is called at most once, before the first call
	// that needs it and after the settings have arrived. Every call returns its error;
	// wrap [swarm.ErrInvalidConfig] or [swarm.ErrUnavailable] where they fit. ctx ends
	// when the plugin has to exit, not before.
	Backend func(ctx context.Context, env Env) (swarm.Backend, error)
	// Settings describes the plugin's settings; its zero value says that there are none. Settings that
	// do not fit it reach neither Backend nor Workspace.
	Settings Schema
	// SpecOptions describes the options of the plugin's workers, or of its workspaces if it is a
	// workspace plugin; its zero value says that there are none.
	SpecOptions Schema
	// Workspace makes the workspace plugin, as Backend makes the backend.
	Workspace func(ctx context.Context, env Env) (swarm.Workspace, error)
	// Tools makes a plugin that only offers tools, as Backend makes the backend. Plugins of the
	// other kinds offer tools by implementing [swarm.Toolbox] in addition.
	Tools func(ctx context.Context, env Env) (swarm.Toolbox, error)
	// Notifier makes a notifier, as Backend makes the backend.
	Notifier func(ctx context.Context, env Env) (swarm.Notifier, error)
}

// Env holds the values that a plugin gets from its host.
type Env struct {
	// Logger writes to the host's log. Do not log handles, values of
	// environments, or what users type. Never nil.
	Logger *slog.Logger
	// Config holds the plugin's settings.
	Config Config
}

// Config is the plugin's own table of the host's configuration, as JSON. Its
// zero value is an empty table.
type Config struct {
	json []byte
	// served is the plugin's Options.Settings; nil for a config of [NewConfig].
	served *Schema
}

// NewConfig returns a config that holds a JSON object, for tests.
func NewConfig(json []byte) Config { return Config{json: json} }
