package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
)

// PluginName is the name under which go-plugin dispenses what [Connect] takes.
const PluginName = "swarm"

// The cookie keeps a plugin from being run by hand, and from being taken for a
// plugin of another program. It is not a secret.
const (
	cookieKey   = "SWARM_PLUGIN"
	cookieValue = "4a1f9d5e2c7b4d6f8e30b1c2a5d79f64"
)

// Handshake returns what host and plugin have to agree on before anything else.
// It has nothing to do with the version of the contract, which [Connect] checks.
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
