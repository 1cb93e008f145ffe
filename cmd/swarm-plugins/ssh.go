package main

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func serveSSH() {
	var made atomic.Pointer[ssh.Backend]
	plugin.Serve(plugin.Options{
		Name:    "ssh",
		Version: ssh.Version,
		Backend: func(ctx context.Context, env plugin.Env) (swarm.Backend, error) {
			config := ssh.Defaults()
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			b, err := ssh.New(ctx, config, os.Environ(), env.Logger)
			if err != nil {
				return nil, err
			}
			made.Store(b)
			return b, nil
		},
	})
	if b := made.Load(); b != nil {
		b.Leave()
	}
}
