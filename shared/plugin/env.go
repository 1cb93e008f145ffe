package plugin

import (
	"os"
	"slices"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// EnvDeath names the variable that tells a plugin the number of a file
// descriptor: the read end of a pipe whose write end only the host holds. End of
// file means that the host is gone.
const EnvDeath = "SWARM_PLUGIN_DEATH_FD"

// private are the variables between a host and its plugin, or between a keeper
// and its worker. go-plugin exports two of its own names only.
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

// CleanEnv returns env without the variables by which go-plugin and swarm talk
// to a plugin and to a keeper, in its order. It goes over the environment that a
// plugin is started with, before go-plugin adds its own, and over the one that a
// worker gets: a worker may itself run swarm, or another program that uses
// go-plugin. No other variable that begins with PLUGIN_ is touched.
func CleanEnv(env []string) []string {
	return environ.Without(env, func(name string) bool { return slices.Contains(private, name) })
}

// cleanOwnEnv is CleanEnv for this process. It runs when go-plugin has read what
// it needs, and before any code of the plugin's author can start a process.
func cleanOwnEnv() {
	for _, name := range private {
		_ = os.Unsetenv(name) // fails for names that are no names only
	}
}
