package tool

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/nearest"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "tool",
		Short: "Call agent tools from the shell",
		Long: `List, describe and call the tools that agents have through 'swarm mcp': background
shells, teams, messages, tasks. A call from here does the same as a call of an agent,
with the rights of the caller.`,
		Example: `  swarm tool list
  swarm tool schema KillShell
  swarm tool call Bash --json-input '{"command": "make test"}'`,
	}, newList(a), newSchema(a), newCall(a))
}

func findTool(name string) (tool.Tool, error) {
	if t, ok := tool.Find(name); ok {
		return t, nil
	}
	hint := output.DidYouMean(nearest.Name(name, toolNames()), "run 'swarm tool list' to see all of them")
	return tool.Tool{}, output.WithHint(output.Usagef("unknown tool '%s'", name), hint)
}

func toolNames() []string {
	var names []string
	for _, t := range tool.All() {
		names = append(names, t.Name)
	}
	return names
}

var completeTool = app.OfferOne(func(context.Context) ([]string, error) { return toolNames(), nil })
