// Command swarm starts workers, shows how they are, and ends them for good. It
// is the host: for every call it starts the plugins that own the workers in
// question, asks them, and leaves.
//
// The package turns flags and config files into requests to the host, and
// answers into text, JSON and exit codes; it decides nothing about workers.
package main

import "os"

func main() {
	a := newApp(os.Stdout, os.Stderr, os.Environ())
	os.Exit(a.main(os.Args[1:]))
}
