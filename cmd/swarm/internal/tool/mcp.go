package tool

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewMCP(a *app.App) *cobra.Command {
	var cwd string
	var person bool
	var sets []tool.Set
	var limit *time.Duration
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve swarm to an agent as tools",
		Long: `Serve the tools of 'swarm tool list', and workers as resources, over the Model
Context Protocol on stdin and stdout. Agents start this server themselves; docs/mcp.md
says how to set up yours.

The server exits when its input ends, on a signal, and when its parent is gone. It then
ends the background shells that were started through it, with everything that they
started. If the server is killed, the shims of the shells end them. Workers and agents
continue.

Its client has the rights of an agent or a leader if it provably runs below the main
process of that agent's or leader's worker, and yours if it runs below a terminal of
yours or below a program that does. A client in the background may serve several
sessions, as the daemon of Codex does ('codex --no-daemon' has none): it has shells of
its own, but no rights in teams. With --person you declare that such a client, say a
desktop application, serves only you; the flag has no effect inside a worker.

The tools of a plugin are offered only if --tools names the plugin, and if your config
turns them on, see 'swarm tool list'.`,
		Example: `  claude mcp add swarm -- swarm mcp
  codex mcp add swarm -- swarm mcp
  claude mcp add swarm -- swarm mcp --tools shells,workers,teams
  claude mcp add swarm -- swarm mcp --tools shells,workers,notes`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return runMCP(a, cwd, person, sets, limit) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "working directory `DIR` of commands and agents (default: this one)")
	cmd.Flags().BoolVar(&person, "person", false, "the client runs in the background, but serves only you")
	cmd.Flags().Var(command.Parsed(&sets, "SETS", tool.ParseSets), "tools", "sets of tools to offer: shells, workers, teams, and plugins with tools (default: shells,workers, and teams for members of one)")
	cmd.Flags().Var(command.Duration(&limit), "call-limit", "how long the client waits for an answer; a command that takes longer continues in the background (default: 50s)")
	command.CompleteWith(cmd, "tools", string(tool.Shells), string(tool.Workers), string(tool.Teams))
	return cmd
}

// checkPlugins returns an error unless the config turns on the tools of such plugins.
func checkPlugins(a *app.App, plugins []string) error {
	if len(plugins) == 0 {
		return nil
	}
	loaded, err := a.LoadProjectFor(app.BackendTmux)
	if err != nil {
		return err
	}
	for _, name := range plugins {
		if !loaded.Config.Plugins[name].Tools {
			return output.Usagef("%v", tool.UnknownSet(name))
		}
	}
	return nil
}

func runMCP(a *app.App, cwd string, person bool, sets []tool.Set, limit *time.Duration) error {
	command, err := a.Companion("mcp")
	if err != nil {
		return err
	}
	if cwd != "" {
		if err := os.Chdir(cwd); err != nil {
			return fmt.Errorf("cannot work in %s: %w", cwd, errtext.Cause(err))
		}
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		a.Hint("agents start this server, which speaks JSON-RPC; Ctrl-D ends it")
	}
	if err := checkPlugins(a, tool.Plugins(sets)); err != nil {
		return err
	}
	if person {
		command = append(command, "-person")
	}
	if len(sets) > 0 {
		command = append(command, "-tools", tool.JoinSets(sets))
	}
	if limit != nil {
		command = append(command, "-call-limit", limit.String())
	}
	return a.Become(swarm.Program{Command: command})
}
