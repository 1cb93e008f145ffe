package main

import (
	"context"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveProcess() {
	plugin.Serve(plugin.Options{
		Name:    "process",
		Version: process.Version,
		Local:   true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			return process.New(env.Logger), env.Config.Decode(&struct{}{})
		},
	})
}
