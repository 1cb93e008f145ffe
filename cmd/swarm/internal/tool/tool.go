package tool

import (
	"context"
	"strings"

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
	return output.List(tool.All(), func(t tool.Tool) string { return t.Name })
}

var completeTool = app.OfferOne(func(context.Context) ([]string, error) { return toolNames(), nil })

func newList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the tools",
		Long: `List the tools, the set of each, and whether it only reads or may end something.
"swarm mcp --tools" takes sets.`,
		Example: `  swarm tool list
  swarm tool list --json | jq -r '.[].name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error { return runList(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

type toolJSON struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`
	Destructive bool   `json:"destructive"`
	Idempotent  bool   `json:"idempotent"`
	Set         string `json:"set"`
}

func runList(a *app.App, asJSON bool) error {
	tools := tool.All()
	if asJSON {
		return a.PrintJSON(output.List(tools, func(t tool.Tool) toolJSON {
			return toolJSON{t.Name, t.Title, t.Description, t.ReadOnly, t.Destructive, t.Idempotent, string(t.Set)}
		}))
	}
	a.PrintTable([]string{"NAME", "SET", "NATURE", "WHAT"}, output.List(tools, func(t tool.Tool) []string {
		return []string{t.Name, string(t.Set), toolNature(t), strings.ToLower(t.Title[:1]) + t.Title[1:]}
	}))
	return nil
}

func toolNature(t tool.Tool) string {
	switch {
	case t.ReadOnly:
		return "reads"
	case t.Destructive:
		return "destructive"
	default:
		return "changes"
	}
}
