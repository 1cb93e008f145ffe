// Command swarm-plugin-scratch makes an empty directory for each worker. Make it your own: how a
// workspace is made and removed is in workspace.go.
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
		Name:    "scratch",
		Version: version,
		Workspace: func(context.Context, plugin.Env) (swarm.Workspace, error) {
			return workspace{}, nil
		},
	})
}
