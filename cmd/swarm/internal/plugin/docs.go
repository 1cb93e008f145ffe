package plugin

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/schema"
)

func newDocs(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "docs NAME",
		Short: "Write the documentation of a plugin's settings and options as Markdown",
		Long: `Start a plugin, and print a page in Markdown: the settings that its table in a config
file can have, and the options that its workers or workspaces can have, each with its
type, its default and what it is for.`,
		Example: `  swarm plugin docs container
  swarm plugin docs ssh > ssh.md`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "a plugin"),
		ValidArgsFunction:     completePlugins(a),
		RunE:                  func(cmd *cobra.Command, args []string) error { return runDocs(cmd.Context(), a, args[0]) },
	}
}

func runDocs(ctx context.Context, a *app.App, name string) error {
	return withPlugins(ctx, a, func(h *host.Host) error {
		p, err := h.Plugins().Show(ctx, name)
		if err = cmp.Or(err, p.DescriptionErr); err != nil {
			return fmt.Errorf("plugin '%s': %s", name, setup.Message(err))
		}
		if p.Err != nil && p.Description.Settings == nil && p.Description.Options == nil {
			return p.Err
		}
		a.Printf("%s", output.Made([]byte(page(p))))
		return nil
	})
}

// page returns the documentation of a plugin.
func page(p pluginadmin.Detail) string {
	text := "# " + p.Name + "\n"
	text += "\n## Settings\n\nIn `config` of `[plugins." + p.Name + "]`, in `~/.config/swarm/config.toml` or a project's `swarm.toml`.\n\n"
	text += section(p.Description.Settings)
	if p.Description.Kind == client.KindWorkspace {
		text += "\n## Options\n\nFor one workspace.\n\n"
	} else {
		text += "\n## Options\n\nFor one worker: `swarm spawn --backend " + p.Name + " --option KEY=VALUE`, or `options` of its table in `swarm.toml`.\n\n"
	}
	return text + section(p.Description.Options)
}

func section(s *schema.Schema) string {
	if s == nil {
		return "The plugin does not say which there are.\n"
	}
	return s.Markdown()
}

// printSettings prints the settings and options as tables.
func printSettings(a *app.App, p pluginadmin.Detail) {
	for _, t := range []struct {
		header string
		of     *schema.Schema
	}{{"SETTING", p.Description.Settings}, {"OPTION", p.Description.Options}} {
		if t.of == nil || len(t.of.Properties) == 0 {
			continue
		}
		a.Printf("\n")
		rows := output.List(t.of.Rows(), func(r schema.Row) []string {
			return []string{r.Name, r.Type, output.OrDash(r.Default), output.OrDash(r.Remarks())}
		})
		width := a.OutWidth()
		if width == 0 {
			a.PrintTable([]string{t.header, "TYPE", "DEFAULT", "HELP"}, rows)
			continue
		}
		table := output.Table{
			Columns: []output.Column{{Header: t.header}, {Header: "TYPE", Least: 8}, {Header: "DEFAULT", Least: 8}, {Header: "HELP", Least: 12, Spare: true}},
			Width:   width, Colours: a.Colours(), Plain: a.Plain(),
		}
		for _, row := range rows {
			table.Rows = append(table.Rows, output.Texts(row))
		}
		a.PrintFitted(table)
	}
}
