// Swarm-conformance checks a built plugin against the contract, with the cases of
// [github.com/swarmhost/swarm/shared/plugin/plugintest]. `swarm plugin check` replaces its
// own process by it. It is a program of its own because the libraries that it links would
// slow every call of swarm.
//
// The package turns a name or a path into a plugin, and the results of the cases into a
// table or JSON.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Environ())) }
