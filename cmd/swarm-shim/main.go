// Swarm-shim is the parent of one worker: it records the worker's output, process tree and
// exit while no host is running. Plugins start it; see
// [github.com/swarmhost/swarm/shared/shim/rundir] for how to talk to it.
package main

import (
	"os"

	"github.com/swarmhost/swarm/shared/shim/server"
)

func main() { os.Exit(server.Main(os.Args[1:])) }
