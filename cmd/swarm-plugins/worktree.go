package main

import (
	"context"

	"github.com/swarmhost/swarm/plugins/worktree"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveWorktree() {
	plugin.Serve(plugin.Options{Name: "worktree", Version: worktree.Version, Workspace: newWorktree})
}

func newWorktree(_ context.Context, env plugin.Env) (swarm.Workspace, error) {
	var cfg worktree.Config
	if err := env.Config.Decode(&cfg); err != nil {
		return nil, err
	}
	return worktree.New(cfg, env.Logger), nil
}
