package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/shared/swarm"
)

// mcpProgram is the server, a program of its own: every call of swarm would pay for
// what it links.
const mcpProgram = "swarm-mcp"

func newMCP(a *app) *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve swarm to an agent as tools",
		Long: `Serve the tools of 'swarm tool list', and workers as resources, over the Model
Context Protocol on stdin and stdout. Agents start it themselves; docs/mcp.md says
how to tell yours.

It leaves when its input ends, on a signal, and when its parent is gone, and ends
the background shells that were started through it, with everything that they
started. Should it be killed, their keepers end them. Workers and agents stay.`,
		Example: `  claude mcp add swarm -- swarm mcp
  codex mcp add swarm -- swarm mcp`,
		Args: arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return a.mcp(cwd) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "working directory `DIR` of commands and agents (default: this one)")
	return cmd
}

func (a *app) mcp(cwd string) error {
	program, server, err := a.companion(mcpProgram)
	if err != nil {
		return err
	}
	if cwd != "" {
		if err := os.Chdir(cwd); err != nil {
			return fmt.Errorf("cannot work in %s: %w", cwd, cause(err))
		}
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		a.hint("this is for agents to start, and speaks JSON-RPC; Ctrl-D ends it")
	}
	return a.become(swarm.Attachment{Command: []string{
		server, "-swarm", program, "-version", setup.ReadBuild().Version,
	}})
}
