package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

func newRemove(a *app.App) *cobra.Command {
	var r pluginadmin.RemoveRequest
	var json bool
	cmd := &cobra.Command{
		Use:     "remove NAME[@VERSION] [flags]",
		Aliases: []string{"rm"},
		Short:   "Remove an installed plugin",
		Long: `Remove a version of a plugin that "swarm plugin install" installed: its folder
plugins/NAME/VERSION in the state directory. Other plugins are never touched. The
last version is kept while the plugin owns workers that run.`,
		Example: `  swarm plugin remove queue
  swarm plugin remove queue@1.0.0`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(1, 1, "a plugin"),
		ValidArgsFunction:     completeInstalled(a, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			var at bool
			r.Name, r.Version, at = strings.Cut(args[0], "@")
			switch {
			case at && r.Version == "":
				return output.Usagef("missing version in '%s'", args[0])
			case at && r.All:
				return output.Usagef("'%s' names one version, --all means all", args[0])
			}
			return runRemove(cmd.Context(), a, r, json)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.All, "all", false, "remove all versions")
	f.BoolVar(&r.Force, "force", false, "remove it although its workers run")
	f.BoolVar(&json, "json", false, "print the result as JSON")
	return cmd
}

type pluginRemovedJSON struct {
	Name    string   `json:"name"`
	Removed []string `json:"removed"`
}

func runRemove(ctx context.Context, a *app.App, r pluginadmin.RemoveRequest, json bool) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		versions, err := h.Plugins().Remove(ctx, r)
		if several, ok := errors.AsType[*pluginadmin.VersionsError](err); ok {
			return output.WithHint(err, fmt.Sprintf("name one, as in 'swarm plugin remove %s@%s', or use --all", r.Name, several.Versions[0]))
		}
		if _, ok := errors.AsType[*pluginadmin.InUseError](err); ok {
			return output.WithHint(err, "kill them first, or use --force to remove the plugin anyway")
		}
		if err != nil {
			return err
		}
		if json {
			return a.PrintJSON(pluginRemovedJSON{Name: r.Name, Removed: versions})
		}
		for _, v := range versions {
			a.Printf("removed %s %s\n", r.Name, v)
		}
		return nil
	})
}

// completeInstalled offers the names of installed plugins; with versions, those
// too. It starts nothing.
func completeInstalled(a *app.App, versions bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		known, err := a.Setup().Catalog(nil)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := known.InstalledNames()
		if name, _, at := strings.Cut(prefix, "@"); at && versions {
			names = nil
			for _, v := range known.Versions(name) {
				names = append(names, name+"@"+v)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
