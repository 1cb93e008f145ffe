// Command proxy is a plugin of the engine at the socket that PLUGINTEST_ENGINE names. So a
// plugin is a process that can be killed, and its workers stay in the test.
package main

import (
	"context"
	"os"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	o := plugin.Options{
		Name: "proxy", Version: "1.0.0",
		Backend: func(ctx context.Context, _ plugin.Env) (swarm.Backend, error) {
			return dial(ctx, os.Getenv("PLUGINTEST_ENGINE"))
		},
	}
	if slices.Contains(os.Args, "announces") {
		o.SpecOptions = plugin.SchemaOf[options]() // which the engine does not take
	}
	plugin.Serve(o)
}

type options struct {
	Loud bool `json:"loud" default:"true"`
}

// proxied is a backend at an engine.
type proxied struct{ *client.Backend }

func (proxied) Announce() []swarm.Capability {
	return []swarm.Capability{swarm.CapStdin, swarm.CapRestart, swarm.CapSandbox}
}

func dial(ctx context.Context, socket string) (swarm.Backend, error) {
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	c, err := client.Connect(ctx, conn)
	if err != nil {
		return nil, err
	}
	return proxied{c.Backend()}, nil
}
