package main

import (
	"context"

	"github.com/swarmhost/swarm/plugins/nomad"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveNomad() {
	plugin.Serve(plugin.Options{
		Name:    "nomad",
		Version: nomad.Version,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			config := nomad.Defaults()
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return nomad.New(config, env.Logger)
		},
	})
}
