package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

const (
	cookieKey   = "SWARM_PLUGIN"
	cookieValue = "5f0b9c0f3a1f4d1f8a4be1a4f6a1d7c2"
)

func decode([]byte, any) error { return nil }
func serve(Options)            {}

type clientSide struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (clientSide) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }
func (clientSide) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return c, nil
}
