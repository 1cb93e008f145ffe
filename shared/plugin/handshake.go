package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// PluginName is the name under which go-plugin dispenses what [Connect] takes.
const PluginName = "swarm"

// The cookie prevents that a plugin is run by hand or taken for another program's plugin.
// It is not a secret.
const (
	cookieKey   = "SWARM_PLUGIN"
	cookieValue = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64"
)

// Handshake returns the configuration on which host and plugin have to agree first. It is
// independent of the version of the contract, which [Connect] checks.
func Handshake() goplugin.HandshakeConfig {
	return goplugin.HandshakeConfig{
		ProtocolVersion:  1,
		MagicCookieKey:   cookieKey,
		MagicCookieValue: cookieValue,
	}
}

// Plugins returns the plugin set for go-plugin's client.
func Plugins() goplugin.PluginSet { return goplugin.PluginSet{PluginName: wired{}} }

// wired is go-plugin's view of both sides: it dispenses the connection.
type wired struct {
	goplugin.NetRPCUnsupportedPlugin
	server *rpc.Server // nil in the host
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (w wired) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	w.server.Register(g)
	return nil
}

// GRPCClient implements [goplugin.GRPCPlugin].
func (wired) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// EnvDeath names the variable that holds the number of a file descriptor of the plugin: the
// read end of a pipe whose write end only the host holds. End of file means that the host
// is gone.
const EnvDeath = "SWARM_PLUGIN_DEATH_FD"

// private are the variables between a host and its plugin, or between a shim and its
// worker. go-plugin exports only two of its own names.
var private = []string{
	cookieKey,
	EnvDeath,
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

// CleanEnv returns env, in its order, without the variables by which go-plugin and swarm
// configure a plugin and a shim. It is applied to the environment of a new plugin, before
// go-plugin adds its own variables, and to that of a worker, which may itself run swarm or
// another program that uses go-plugin. Other variables that begin with PLUGIN_ are kept, and so
// is [swarm.EnvEngine], which is for the servers that a plugin starts.
func CleanEnv(env []string) []string {
	return environ.Unset(env, private...)
}
