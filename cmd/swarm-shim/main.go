// Swarm-shim is the parent of one worker: it keeps the worker's output, its
// process tree and its exit while nobody is asking. Plugins start it; see
// [github.com/swarmhost/swarm/shared/shim/rundir] for how to talk to it.
package main

import (
	"os"

	"github.com/swarmhost/swarm/shared/shim/server"
)

func main() { os.Exit(server.Main(os.Args[1:])) }
