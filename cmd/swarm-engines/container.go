package main

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveContainer() {
	plugin.Serve(plugin.Options{
		Name:    "container",
		Version: container.Version,
		Local:   true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			config := container.Defaults()
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return container.New(config, os.Environ(), env.Logger)
		},
	})
}
