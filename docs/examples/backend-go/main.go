// Command swarm-plugin-nice is a backend for swarm. It runs every worker on this
// machine with a low priority, so that the person at the keyboard notices nothing.
//
// It shows all that a backend needs. Make it your own: what a worker runs in is
// decided in backend.go, by Spawn alone.
package main

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// version is that of the plugin; package.sh sets the one of a release.
var version = "0.1.0"

func main() {
	plugin.Serve(plugin.Options{
		Name:    "nice",
		Version: version,
		Local:   true, // workers run on the machine of the host, as its user
		// The settings of users: swarm checks, completes and documents them.
		Settings:    plugin.SchemaOf[settings](),
		SpecOptions: plugin.SchemaOf[options](),
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			var s settings
			if err := env.Config.Decode(&s); err != nil {
				return nil, err
			}
			return newBackend(s), nil
		},
	})
}
