package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/shared/schema"
)

func newInfo(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "info NAME [flags]",
		Short: "Show the details of a plugin",
		Long: `Start a plugin, and show what it is, where swarm found it, the source that it was
installed from, and the settings and options that it takes.

With --json these two are JSON Schemas; null: the plugin does not say which there are.`,
		Example: `  swarm plugin info tmux
  swarm plugin info queue --json | jq -r .path
  swarm plugin info container --json | jq -r '.options.properties | keys[]'`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "a plugin"),
		ValidArgsFunction:     completePlugins(a),
		RunE:                  func(cmd *cobra.Command, args []string) error { return runInfo(cmd.Context(), a, args[0], json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print it as JSON")
	return cmd
}

// completePlugins offers the names of plugins. It starts none.
func completePlugins(a *app.App) cobra.CompletionFunc {
	return app.OfferOne(func(context.Context) ([]string, error) {
		loaded, _ := a.Setup().LoadUser() // or the valid part of it, without warnings
		known, err := a.Setup().Catalog(loaded.Config.Plugins)
		if err != nil {
			return nil, err
		}
		return known.Names(), nil
	})
}

type pluginInfoJSON struct {
	pluginJSON
	Contract *int     `json:"contract"`
	Command  []string `json:"command"`
	// Configured is the configured location of the plugin.
	Configured pluginConfiguredJSON `json:"configured"`
	Installed  *installedJSON       `json:"installed"`
	// Settings and Options are what it announces.
	Settings *schema.Schema `json:"settings"`
	Options  *schema.Schema `json:"options"`
}

type pluginConfiguredJSON struct {
	Command bool    `json:"command"`
	Version *string `json:"version"`
	SHA256  *string `json:"sha256"`
}

type installedJSON struct {
	Version      string              `json:"version"`
	Time         string              `json:"time"`
	Source       string              `json:"source"`
	SourceSHA256 string              `json:"source_sha256"`
	Origin       *string             `json:"origin"`
	SignedBy     *string             `json:"signed_by"`
	OS           string              `json:"os"`
	Arch         string              `json:"arch"`
	Files        []installedFileJSON `json:"files"`
}

type installedFileJSON struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func pluginInfoJSONOf(p pluginadmin.Detail) pluginInfoJSON {
	j := pluginInfoJSON{
		pluginJSON: pluginJSONOf(p.Status), Contract: output.OrNull(p.Contract), Command: append([]string{}, p.Command...),
		Settings: p.Description.Settings, Options: p.Description.Options,
		Configured: pluginConfiguredJSON{Command: p.Configured, Version: output.OrNull(p.WantVersion), SHA256: output.OrNull(p.WantSHA256)},
	}
	if i := p.Installed; i != nil {
		j.Installed = &installedJSON{
			Version: i.Version, Time: i.Installed.Format(time.RFC3339), Source: i.Source, SourceSHA256: i.SourceSHA256, OS: i.OS, Arch: i.Arch,
			Origin: output.OrNull(i.Origin), SignedBy: output.OrNull(i.SignedBy),
		}
		for _, f := range i.Files {
			j.Installed.Files = append(j.Installed.Files, installedFileJSON(f))
		}
	}
	return j
}

func runInfo(ctx context.Context, a *app.App, name string, json bool) error {
	return withPlugins(ctx, a, func(h *host.Host) error {
		p, err := h.Plugins().Show(ctx, name)
		if err != nil {
			return err
		}
		if json {
			return a.PrintJSON(pluginInfoJSONOf(p))
		}
		printPluginInfo(a, pluginInfoRows(p))
		printSettings(a, p)
		return nil
	})
}

// printPluginInfo prints rows of two columns. In a terminal the second column is wrapped.
func printPluginInfo(a *app.App, rows [][]string) {
	width := a.OutWidth()
	if width == 0 {
		a.PrintTable(nil, rows)
		return
	}
	indent := 0
	for _, row := range rows {
		indent = max(indent, output.Columns(row[0])+2)
	}
	for _, row := range rows {
		a.Printf("%s\n", output.Made(output.WrappedUnder(fmt.Sprintf("%-*s%s", indent, row[0], output.Visible(row[1])), indent, width)))
	}
}

func pluginInfoRows(p pluginadmin.Detail) [][]string {
	var rows [][]string
	add := func(what, text string) {
		if text != "" {
			rows = append(rows, []string{what + ":", text})
		}
	}
	add("name", p.Name)
	add("kind", p.Kind)
	add("version", p.Version)
	add("health", health(p.Status))
	add("path", p.Path)
	if len(p.Command) > 1 {
		add("arguments", strings.Join(p.Command[1:], " "))
	}
	add("capabilities", strings.Join(p.Capabilities, ", "))
	if p.Kind != "" {
		add("contract", fmt.Sprint(p.Contract))
		if p.Kind == "backend" {
			add("workers", map[bool]string{true: "on this machine", false: "elsewhere"}[p.Local])
		}
	}
	if i := p.Installed; i != nil {
		add("installed", fmt.Sprintf("%s from %s", i.Installed.Local().Format(time.DateTime), i.Source))
		add("origin", i.Origin)
		add("signed by", i.SignedBy)
		add("sha256", i.Files[0].SHA256)
		add("size", fmt.Sprintf("%d bytes", i.Files[0].Size))
	}
	add("versions", strings.Join(p.Versions, ", "))
	add("wanted version", p.WantVersion)
	add("wanted sha256", p.WantSHA256)
	if p.DescriptionErr != nil {
		add("settings", p.DescriptionErr.Error())
	}
	return rows
}
