package plugin

import (
	"os"
	"slices"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// EnvDeath names the variable that holds the number of a file descriptor of the plugin: the
// read end of a pipe whose write end only the host holds. End of file means that the host
// is gone.
const EnvDeath = "SWARM_PLUGIN_DEATH_FD"

// private are the variables between a host and its plugin, or between a shim and its
// worker. go-plugin exports only two of its own names.
var private = []string{
	cookieKey,
	EnvDeath,
	swarm.EnvKeeper,
	swarm.EnvToken,
	"PLUGIN_MIN_PORT",
	"PLUGIN_MAX_PORT",
	"PLUGIN_PROTOCOL_VERSIONS",
	"PLUGIN_CLIENT_CERT",
	"PLUGIN_MULTIPLEX_GRPC",
	goplugin.EnvUnixSocketDir,
	goplugin.EnvUnixSocketGroup,
}

// CleanEnv returns env, in its order, without the variables by which go-plugin and swarm
// talk to a plugin and to a shim. It is applied to the environment of a new plugin, before
// go-plugin adds its own variables, and to that of a worker: a worker may itself run swarm,
// or another program that uses go-plugin. No other variable that begins with PLUGIN_ is
// touched.
func CleanEnv(env []string) []string {
	return environ.Without(env, func(name string) bool { return slices.Contains(private, name) })
}

// cleanOwnEnv is CleanEnv for this process. It runs after go-plugin has read its variables,
// and before any code of the plugin's author can start a process.
func cleanOwnEnv() {
	for _, name := range private {
		_ = os.Unsetenv(name) // fails only for invalid names
	}
}
