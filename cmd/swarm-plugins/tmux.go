package main

import (
	"context"

	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveTmux() {
	plugin.Serve(plugin.Options{
		Name:    "tmux",
		Version: tmux.Version,
		Local:   true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			return tmux.New(env.Logger), env.Config.Decode(&struct{}{})
		},
	})
}
