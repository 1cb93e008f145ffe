package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
)

func newPlugin(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Show the plugins that own workers and worktrees",
		RunE:  unknownVerb,
		Args:  cobra.ArbitraryArgs,
	}
	cmd.AddCommand(newPluginList(a))
	return cmd
}

func newPluginList(a *app) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Aliases: []string{"ls"},
		Short:   "List plugins",
		Long: `Start every plugin that can be found, and tell how it is. A plugin is an executable
swarm-plugin-NAME beside swarm, in ../libexec/swarm, in the plugins folder of the
state directory, or in the PATH; or it is named in a config file.`,
		Example: `  swarm plugin list
  swarm plugin list --json | jq -r '.[] | select(.error) | .name'`,
		DisableFlagsInUseLine: true,
		Args:                  arguments(0, 0, ""),
		RunE:                  func(cmd *cobra.Command, _ []string) error { return a.pluginList(cmd.Context(), json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the plugins as JSON")
	return cmd
}

func (a *app) pluginList(ctx context.Context, json bool) error {
	loaded, err := a.loadAll()
	if err != nil {
		return err
	}
	a.warnUntrusted(loaded)
	h, err := a.open(ctx, loaded.Config)
	if err != nil {
		return err
	}
	defer h.Close()
	plugins := h.PluginList(ctx)
	if json {
		return a.printJSON(pluginsJSON(plugins))
	}
	var rows [][]string
	for _, p := range plugins {
		health := "ok"
		if p.Err != nil {
			health = message(p.Err)
		}
		rows = append(rows, []string{
			p.Name, orDash(p.Kind), orDash(p.Version), orDash(strings.Join(p.Capabilities, ",")), health, orDash(p.Path),
		})
	}
	a.printTable([]string{"NAME", "KIND", "VERSION", "CAPABILITIES", "HEALTH", "PATH"}, rows)
	return nil
}

// pluginJSON is one plugin.
type pluginJSON struct {
	Name         string   `json:"name"`
	Kind         *string  `json:"kind"`
	Version      *string  `json:"version"`
	Path         *string  `json:"path"`
	Capabilities []string `json:"capabilities"`
	Local        bool     `json:"local"`
	Error        *string  `json:"error"`
}

func pluginsJSON(plugins []host.PluginStatus) []pluginJSON {
	list := make([]pluginJSON, len(plugins))
	for i, p := range plugins {
		list[i] = pluginJSON{
			Name: p.Name, Kind: orNull(p.Kind), Version: orNull(p.Version), Path: orNull(p.Path),
			Capabilities: append([]string{}, p.Capabilities...), Local: p.Local, Error: errorJSON(p.Err),
		}
	}
	return list
}
