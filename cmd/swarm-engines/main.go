// Command swarm-engines is the plugins of packages container and nomad in one program; see
// [github.com/swarmhost/swarm/shared/programs].
package main

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/watchdog"
	"github.com/swarmhost/swarm/plugins/nomad"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case container.CopyVerb:
			os.Exit(container.CopyMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case container.ExecVerb:
			os.Exit(container.ExecMain(os.Args[2:]))
		case watchdog.Verb:
			os.Exit(watchdog.Main(os.Args[2:], os.Stdin))
		}
	}
	if len(os.Args) > 1 && os.Args[1] == container.ForwardVerb {
		os.Exit(container.ForwardMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == relay.Verb {
		os.Exit(relay.PortMain(os.Args[2:]))
	}
	os.Exit(programs.Main(map[string]func(){
		"container": serveContainer, "nomad": serveNomad,
	}))
}

func serveContainer() {
	plugin.Serve(plugin.Options{
		Name:        "container",
		Version:     container.Version,
		Settings:    plugin.SchemaOf[container.Config](),
		SpecOptions: plugin.SchemaOf[container.Options](),
		Local:       true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			var config container.Config
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return container.New(config, os.Environ(), env.Logger)
		},
	})
}

func serveNomad() {
	plugin.Serve(plugin.Options{
		Name:        "nomad",
		Version:     nomad.Version,
		Settings:    plugin.SchemaOf[nomad.Config](),
		SpecOptions: plugin.SchemaOf[nomad.Options](),
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			var config nomad.Config
			if err := env.Config.Decode(&config); err != nil {
				return nil, err
			}
			return nomad.New(config, env.Logger)
		},
	})
}
