// Package handshake holds what a host and a plugin have to agree on before the first call: the
// cookie, the pipe by whose end a plugin notices that its host is gone, and the variables that are
// for the plugin alone.
package handshake

import (
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Name is the name under which go-plugin dispenses the connection.
const Name = "swarm"

// The cookie prevents that a plugin is run by hand or taken for another program's plugin.
// It is not a secret.
const (
	CookieKey   = "SWARM_PLUGIN"
	CookieValue = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64"
)

// Config is the configuration of go-plugin on both sides. It is independent of the version of
// the contract.
func Config() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: CookieKey, MagicCookieValue: CookieValue}
}

// The limits of a connection.
const (
	// PingEvery is how long a connection may be silent before a ping, and PingLimit is how
	// long the answer may take. A silently broken connection is noticed after their sum.
	PingEvery = 10 * time.Second
	PingLimit = 10 * time.Second
	// MaxRequest is the largest request that a plugin accepts, in bytes. The largest one, a
	// Spawn, holds two environments of at most 6 MiB each on Linux.
	MaxRequest = 64 << 20
)

// EnvDeath names the variable that holds the number of a file descriptor of the plugin: the
// read end of a pipe whose write end only the host holds. End of file means that the host
// is gone.
const EnvDeath = "SWARM_PLUGIN_DEATH_FD"

// EnvShimProgram names the variable that holds the path of swarm-shim, whose verbs a plugin without
// an SDK runs.
const EnvShimProgram = "SWARM_SHIM_PROGRAM"

// Private are the variables between a host and its plugin, or between a shim and its
// worker. go-plugin exports only two of its own names.
var Private = []string{
	CookieKey,
	EnvDeath,
	EnvShimProgram,
	swarm.EnvShim,
	swarm.EnvToken,
	"PLUGIN_MIN_PORT",
	"PLUGIN_MAX_PORT",
	"PLUGIN_PROTOCOL_VERSIONS",
	"PLUGIN_CLIENT_CERT",
	"PLUGIN_MULTIPLEX_GRPC",
	goplugin.EnvUnixSocketDir,
	goplugin.EnvUnixSocketGroup,
}

// CleanEnv returns env, in its order, without the private variables.
func CleanEnv(env []string) []string { return environ.Unset(env, Private...) }
