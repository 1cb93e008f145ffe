// Command swarm-plugin-ssh is the plugin of package ssh.
package main

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name:    "ssh",
		Version: ssh.Version,
		Backend: func(ctx context.Context, env plugin.Env) (swarm.Backend, error) {
			config := ssh.Defaults()
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return ssh.New(ctx, config, os.Environ(), env.Logger)
		},
	})
}
