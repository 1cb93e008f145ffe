package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

func newPlugin(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "plugin",
		Short: "Show, install and check the plugins that own workers and worktrees",
	}, newPluginList(a), newPluginInfo(a), newPluginInstall(a), newPluginVerify(a), newPluginRemove(a), newPluginNew(a),
		newPluginCheck(a))
}

func newPluginList(a *app) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Aliases: []string{"ls"},
		Short:   "List plugins",
		Long: `Start every plugin that swarm finds, and show its health. A plugin is an executable
swarm-plugin-NAME beside swarm, in ../libexec/swarm, in the plugins folder of the
state directory ("swarm plugin install" puts it there), or in the PATH; or a config
file names it.`,
		Example: `  swarm plugin list
  swarm plugin list --json | jq -r '.[] | select(.health != "ok") | .name'`,
		DisableFlagsInUseLine: true,
		Args:                  arguments(0, 0, ""),
		RunE:                  func(cmd *cobra.Command, _ []string) error { return a.pluginList(cmd.Context(), json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the plugins as JSON")
	return cmd
}

func (a *app) pluginList(ctx context.Context, json bool) error {
	return a.withPlugins(ctx, func(h *host.Host) error {
		plugins := h.Plugins().List(ctx)
		if json {
			return a.printJSON(pluginsJSON(plugins))
		}
		a.printPlugins(plugins)
		return nil
	})
}

// withPlugins runs f with a host that has the settings of all files, as far as they
// are right.
func (a *app) withPlugins(ctx context.Context, f func(*host.Host) error) error {
	loaded, err := a.loadProject()
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	for _, p := range problems {
		a.warn(p.Error(), "") // what is shown may be what one needs to mend it
	}
	return a.with(ctx, loaded.Config, f)
}

func (a *app) printPlugins(plugins []pluginadmin.Status) {
	var rows [][]string
	for _, p := range plugins {
		path := orDash(p.Path)
		if len(p.Versions) > 1 {
			path += " (installed: " + strings.Join(p.Versions, ", ") + ")"
		}
		rows = append(rows, []string{
			p.Name, orDash(p.Kind), orDash(p.Version), orDash(strings.Join(p.Capabilities, ",")), health(p), path,
		})
	}
	a.printTable([]string{"NAME", "KIND", "VERSION", "CAPABILITIES", "HEALTH", "PATH"}, rows)
}

// health is "ok", or why a plugin does not work.
func health(p pluginadmin.Status) string {
	if p.Err != nil {
		return setup.Message(p.Err)
	}
	return "ok"
}

// pluginJSON is one plugin.
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

func pluginsJSON(plugins []pluginadmin.Status) []pluginJSON {
	list := make([]pluginJSON, len(plugins))
	for i, p := range plugins {
		list[i] = pluginJSONOf(p)
	}
	return list
}

func pluginJSONOf(p pluginadmin.Status) pluginJSON {
	return pluginJSON{
		Name: p.Name, Kind: orNull(p.Kind), Version: orNull(p.Version), Path: orNull(p.Path),
		Capabilities: append([]string{}, p.Capabilities...), Local: p.Local, Health: health(p),
		Versions: append([]string{}, p.Versions...),
	}
}
