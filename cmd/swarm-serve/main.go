// Command swarm-serve is what serves people and agents: the MCP server, the dashboards in the
// terminal and in the browser, and the check of plugins. swarm replaces its own process by it.
//
// It is a program of its own because the libraries that it links would slow every call of swarm,
// and one for all of these because they are mostly the same libraries.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/cmd/swarm-serve/internal/conformance"
	"github.com/swarmhost/swarm/cmd/swarm-serve/internal/mcpserver"
	"github.com/swarmhost/swarm/cmd/swarm-serve/internal/terminal"
	"github.com/swarmhost/swarm/cmd/swarm-serve/internal/webserver"
)

func main() { os.Exit(run(os.Args[0], os.Args[1:], os.Environ())) }

// run runs the part that the first argument names. In a container the program's name is swarm.
func run(program string, args, env []string) int {
	var part string
	if len(args) > 0 {
		part, args = args[0], args[1:]
	}
	switch {
	case filepath.Base(program) == "swarm":
		return mcpserver.RunRelay(part, args, os.Stdin, os.Stdout, os.Stderr)
	case part == "mcp":
		return mcpserver.Run(args, os.Stdin, os.Stdout, os.Stderr, env)
	case part == "top":
		return terminal.Run(args, os.Stdin, os.Stdout, os.Stderr, env)
	case part == "web":
		return webserver.Run(args, os.Stdout, os.Stderr, env)
	case part == "check":
		return conformance.Run(args, os.Stdout, os.Stderr, env)
	}
	fmt.Fprintln(os.Stderr, "swarm: error: swarm-serve is started by 'swarm mcp', 'swarm top', 'swarm web' and 'swarm plugin check'")
	return 2
}
