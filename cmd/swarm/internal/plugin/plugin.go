package plugin

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "plugin",
		Short: "Show, install and check the plugins that own workers and workspaces",
	}, newPluginList(a), newInfo(a), newDocs(a), newInstall(a), newUpgrade(a), newVerify(a), newRemove(a),
		newPrune(a), newLock(a), newIndex(a), newSearch(a), newNew(a), newCheck(a), newDebug(a), newLogs(a))
}

func newPluginList(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Aliases: []string{"ls"},
		Short:   "List plugins",
		Long: `Start every plugin that swarm finds, and show its health. A plugin is an executable
swarm-plugin-NAME next to swarm, in ../libexec/swarm, in the plugins folder of the
state directory ("swarm plugin install" puts it there), or in the PATH; or a config
file names it.`,
		Example: `  swarm plugin list
  swarm plugin list --json | jq -r '.[] | select(.health != "ok") | .name'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 0, ""),
		RunE:                  func(cmd *cobra.Command, _ []string) error { return runList(cmd.Context(), a, json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the plugins as JSON")
	return cmd
}

func runList(ctx context.Context, a *app.App, json bool) error {
	return withPlugins(ctx, a, func(h *host.Host) error {
		plugins := h.Plugins().List(ctx)
		if json {
			return a.PrintJSON(output.List(plugins, pluginJSONOf))
		}
		printPlugins(a, plugins)
		return nil
	})
}

// withPlugins runs f with a host that has the settings of all files, as far as they
// are right.
func withPlugins(ctx context.Context, a *app.App, f func(*host.Host) error) error {
	loaded, err := a.LoadProject()
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	for _, p := range problems {
		a.Warn(p.Error(), "") // the output may help to correct it
	}
	return a.With(ctx, loaded.Config, f)
}

func printPlugins(a *app.App, plugins []pluginadmin.Status) {
	if width := a.OutWidth(); width > 0 {
		a.PrintFitted(fittedPlugins(a, plugins, width))
		return
	}
	var rows [][]string
	for _, p := range plugins {
		path := output.OrDash(p.Path)
		if len(p.Versions) > 1 {
			path += " (installed: " + strings.Join(p.Versions, ", ") + ")"
		}
		rows = append(rows, []string{
			p.Name, output.OrDash(p.Kind), output.OrDash(p.Version), output.OrDash(strings.Join(p.Capabilities, ",")), health(p), path,
		})
	}
	a.PrintTable([]string{"NAME", "KIND", "VERSION", "CAPABILITIES", "HEALTH", "PATH"}, rows)
}

// fittedPlugins is the table for a terminal of that width: the capabilities and paths, which are
// long, are in 'swarm plugin info'.
func fittedPlugins(a *app.App, plugins []pluginadmin.Status, width int) output.Table {
	t := output.Table{
		Columns: []output.Column{
			{Header: "NAME"},
			{Header: "KIND"},
			{Header: "VERSION", Least: 5},
			{Header: "HEALTH", Least: 12},
			{Header: "PATH", Least: 8, Spare: true},
		},
		Width: width, Colours: a.Colours(), Plain: a.Plain(),
	}
	for _, p := range plugins {
		t.Rows = append(t.Rows, output.Texts([]string{p.Name, output.OrDash(p.Kind), output.OrDash(p.Version), health(p), output.OrDash(p.Path)}))
	}
	return t
}

// health is "ok", or why a plugin does not work.
func health(p pluginadmin.Status) string {
	if p.Err != nil {
		return setup.Message(p.Err)
	}
	return "ok"
}

type pluginJSON struct {
	Name         string   `json:"name"`
	Kind         *string  `json:"kind"`
	Version      *string  `json:"version"`
	Path         *string  `json:"path"`
	Capabilities []string `json:"capabilities"`
	Local        bool     `json:"local"`
	Health       string   `json:"health"`
	// Versions are those that are installed.
	Versions []string `json:"versions"`
}

func pluginJSONOf(p pluginadmin.Status) pluginJSON {
	return pluginJSON{
		Name: p.Name, Kind: output.OrNull(p.Kind), Version: output.OrNull(p.Version), Path: output.OrNull(p.Path),
		Capabilities: append([]string{}, p.Capabilities...), Local: p.Local, Health: health(p),
		Versions: append([]string{}, p.Versions...),
	}
}
