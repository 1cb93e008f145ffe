// Command swarm-engines is the plugins of packages container and nomad in one program; see
// [github.com/swarmhost/swarm/shared/programs].
package main

import (
	"fmt"
	"os"

	"github.com/swarmhost/swarm/shared/programs"
)

func main() {
	serve, err := programs.Choose(os.Args, map[string]func(){
		"container": serveContainer, "nomad": serveNomad,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "swarm: error: %v\n", err)
		os.Exit(2)
	}
	serve()
}
