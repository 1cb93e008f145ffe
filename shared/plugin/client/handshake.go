package client

import (
	"context"
	"errors"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
)

// PluginName is the name under which go-plugin dispenses what [Connect] takes.
const PluginName = handshake.Name

// EnvDeath names the variable that holds the number of a file descriptor of the plugin: the
// read end of a pipe whose write end only the host holds. End of file means that the host
// is gone.
const EnvDeath = handshake.EnvDeath

// EnvShimProgram names the variable that holds the path of swarm-shim, whose verbs a plugin without
// an SDK runs.
const EnvShimProgram = handshake.EnvShimProgram

// Handshake returns the configuration on which host and plugin have to agree first. It is
// independent of the version of the contract, which [Connect] checks.
func Handshake() goplugin.HandshakeConfig { return handshake.Config() }

// Plugins returns the plugin set for go-plugin's client.
func Plugins() goplugin.PluginSet { return goplugin.PluginSet{PluginName: wired{}} }

// wired dispenses the connection.
type wired struct {
	goplugin.NetRPCUnsupportedPlugin
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (wired) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host serves no plugin")
}

// GRPCClient implements [goplugin.GRPCPlugin].
func (wired) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// CleanEnv returns env, in its order, without the variables by which go-plugin and swarm
// configure a plugin and a shim. It is applied to the environment of a new plugin, before
// go-plugin adds its own variables, and to that of a worker, which may itself run swarm or
// another program that uses go-plugin. Other variables that begin with PLUGIN_ are kept, and so
// is swarm.EnvEngine, which is for the servers that a plugin starts.
func CleanEnv(env []string) []string { return handshake.CleanEnv(env) }
