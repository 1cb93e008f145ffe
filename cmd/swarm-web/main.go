// Swarm-web serves the dashboard of swarm to a browser; see
// [github.com/swarmhost/swarm/host/web]. `swarm web` replaces its own process by it. It is a
// program of its own so that no other call of swarm has to prepare the pages.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Environ())) }
