// Command plugin is the plugin of the floor.
package main

import (
	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/.ci/bench/floor"
)

func main() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: floor.Handshake,
		Plugins:         floor.Plugins,
		GRPCServer:      goplugin.DefaultGRPCServer,
		Logger:          hclog.NewNullLogger(),
	})
}
