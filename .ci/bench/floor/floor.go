// Package floor is the smallest possible go-plugin host and plugin over gRPC. The
// benchmarks compare the cost of swarm with it.
package floor

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Handshake is the cookie of both sides.
var Handshake = goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "FLOOR", MagicCookieValue: "floor"}

// Plugins is the one plugin, which has no service of its own: the health service
// of go-plugin answers the one call.
var Plugins = goplugin.PluginSet{"floor": empty{}}

type empty struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (empty) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (empty) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return struct{}{}, nil
}
