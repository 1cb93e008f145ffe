package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/nearest"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "tool",
		Short: "Call agent tools from the shell",
		Long: `List, describe and call the tools that agents have through 'swarm mcp': background
shells, teams, messages, tasks, and the tools of plugins. A call from here does the same as a call of an agent,
with the rights of the caller.`,
		Example: `  swarm tool list
  swarm tool schema KillShell
  swarm tool call Bash --json-input '{"command": "make test"}'`,
	}, newList(a), newSchema(a), newCall(a))
}

// findTool finds a tool by its name. It starts a plugin only for a name of its tools.
func findTool(ctx context.Context, a *app.App, name string) (tool.Tool, error) {
	if t, ok := tool.Find(name); ok {
		return t, nil
	}
	if plugin, _, ok := strings.Cut(name, "."); ok {
		listed, errs, err := ofPlugins(ctx, a, plugin)
		if err := errors.Join(append(errs, err)...); err != nil {
			return tool.Tool{}, err
		}
		if at := slices.IndexFunc(listed, func(t tool.Tool) bool { return t.Name == name }); at >= 0 {
			return listed[at], nil
		}
		names := output.List(listed, func(t tool.Tool) string { return t.Name })
		hint := output.DidYouMean(nearest.Name(name, names), "its tools: "+strings.Join(names, ", "))
		return tool.Tool{}, output.WithHint(output.Usagef("plugin '%s' has no tool '%s'", plugin, name), hint)
	}
	hint := output.DidYouMean(nearest.Name(name, toolNames()), "run 'swarm tool list' to see all of them")
	return tool.Tool{}, output.WithHint(output.Usagef("unknown tool '%s'", name), hint)
}

// ofPlugins returns the tools of the named plugins, of all without names, and an error for each
// plugin that can't list them.
func ofPlugins(ctx context.Context, a *app.App, plugins ...string) (tools []tool.Tool, errs []error, err error) {
	loaded, err := a.LoadProjectFor(app.BackendTmux)
	if err != nil {
		return nil, nil, err
	}
	err = a.With(ctx, loaded.Config, func(h *host.Host) error {
		tools, errs = tool.OfPlugins(ctx, h, plugins...)
		return nil
	})
	return tools, errs, err
}

// allTools returns the tools of swarm and of all plugins, and warns of plugins that can't list
// theirs.
func allTools(ctx context.Context, a *app.App) []tool.Tool {
	listed, errs, err := ofPlugins(ctx, a)
	if err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		a.Warn(setup.Message(err), "")
	}
	return append(tool.All(), listed...)
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
"swarm mcp --tools" takes sets. Tools of plugins are named PLUGIN.TOOL, and their set is
the plugin; they are listed if 'tools = true' is set in the table [plugins.PLUGIN] of
your config file, or of a project's file that you trust.`,
		Example: `  swarm tool list
  swarm tool list --json | jq -r '.[].name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runList(cmd.Context(), a, asJSON) },
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
	// Right is set for tools of plugins.
	Right *string `json:"right"`
}

func runList(ctx context.Context, a *app.App, asJSON bool) error {
	tools := allTools(ctx, a)
	if asJSON {
		return a.PrintJSON(output.List(tools, func(t tool.Tool) toolJSON {
			return toolJSON{t.Name, t.Title, t.Description, t.ReadOnly, t.Destructive, t.Idempotent, string(t.Set), output.OrNull(string(t.Right))}
		}))
	}
	a.PrintTable([]string{"NAME", "SET", "NATURE", "WHAT"}, output.List(tools, func(t tool.Tool) []string {
		return []string{t.Name, string(t.Set), toolNature(t), lowerFirst(t.Title)}
	}))
	return nil
}

func lowerFirst(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[n:]
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
