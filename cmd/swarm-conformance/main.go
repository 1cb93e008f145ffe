// Swarm-conformance checks a built plugin against the contract, with the cases of
// [github.com/swarmhost/swarm/shared/plugin/plugintest]. `swarm plugin check` runs
// it in its own place. It is no part of swarm itself because every call of swarm
// would pay for what it links.
//
// The package turns a name or a path into a plugin, and what came of the cases into
// a table or JSON.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Environ())) }
