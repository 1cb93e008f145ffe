// Swarm-mcp is the MCP server of swarm; see [github.com/swarmhost/swarm/host/mcp]. `swarm
// mcp` replaces its own process by it. It is a program of its own because the libraries
// that it links would slow every call of swarm.
//
// The package turns config files into the environment of tools, and ends the server with
// its parent.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }
