// Command swarm-plugins is the plugins of packages process, ssh, tmux and worktree in one program; see
// [github.com/swarmhost/swarm/shared/programs].
package main

import (
	"fmt"
	"os"

	"github.com/swarmhost/swarm/shared/programs"
)

func main() {
	serve, err := programs.Choose(os.Args, map[string]func(){
		"process": serveProcess, "ssh": serveSSH, "tmux": serveTmux, "worktree": serveWorktree,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "swarm: error: %v\n", err)
		os.Exit(2)
	}
	serve()
}
