// Swarm-mcp is the MCP server of swarm; see [github.com/swarmhost/swarm/host/mcp].
// `swarm mcp` runs it in its own place. It is no part of swarm itself because every
// call of swarm would pay for what it links.
//
// The package turns config files into what tools work with, and the end of the parent
// into that of the server.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }
