package plugin

import (
	"context"
	"errors"
	"fmt"
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

func newUpgrade(a *app.App) *cobra.Command {
	var r pluginadmin.UpgradeRequest
	var json bool
	cmd := &cobra.Command{
		Use:   "upgrade [NAME] [flags]",
		Short: "Install newer releases of installed plugins",
		Long: `Install the newest release of NAME, or of all installed plugins, from where each was
installed from: a repository on GitHub, or an index, which is updated first. A plugin
that was installed from a file or a URL is not changed. A pre-release is never an upgrade:
"swarm plugin install NAME@VERSION" installs one.

Versions that were installed before stay, and a config or a swarm.lock that names one
still picks it. "swarm plugin prune" removes what nothing needs any more.

Exit code: 0, or 1 if a plugin could not be upgraded.`,
		Example: `  swarm plugin upgrade
  swarm plugin upgrade --dry-run
  swarm plugin upgrade queue --json`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 1, ""),
		ValidArgsFunction:     completeInstalled(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = strings.Join(args, "")
			return runUpgrade(cmd.Context(), a, r, json)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&r.DryRun, "dry-run", "n", false, "print what would be installed, and install nothing")
	f.BoolVar(&json, "json", false, "print the results as JSON")
	return cmd
}

type pluginUpgradedJSON struct {
	Name string  `json:"name"`
	From *string `json:"from"`
	// To is the newest release; null if the plugin has no origin.
	To     *string `json:"to"`
	Source *string `json:"source"`
	// Action is "upgraded", "would upgrade", "current", "no origin" or "failed".
	Action string  `json:"action"`
	Error  *string `json:"error"`
}

func pluginUpgradedJSONOf(u pluginadmin.Upgraded) pluginUpgradedJSON {
	j := pluginUpgradedJSON{Name: u.Name, From: output.OrNull(u.From), To: output.OrNull(u.To), Source: output.OrNull(u.Source)}
	switch {
	case u.Err != nil:
		j.Action, j.Error = "failed", output.OrNull(setup.Message(u.Err))
	case u.Installed != nil:
		j.Action = "upgraded"
	case u.To == "":
		j.Action = "no origin"
	case u.Current():
		j.Action = "current"
	default:
		j.Action = "would upgrade"
	}
	return j
}

func runUpgrade(ctx context.Context, a *app.App, r pluginadmin.UpgradeRequest, json bool) error {
	output.FinishWriting()
	r.Confirm = confirmation(ctx, a)
	return a.WithHost(ctx, func(h *host.Host) error {
		list, err := h.Plugins().Upgrade(ctx, r)
		if err != nil {
			return err
		}
		results, failed := output.List(list, pluginUpgradedJSONOf), false
		for i, u := range list {
			failed = failed || u.Err != nil
			if json {
				continue
			}
			switch j := results[i]; {
			case u.Err != nil:
				a.Error(fmt.Sprintf("plugin '%s': %s", u.Name, *j.Error))
				if hinted, ok := errors.AsType[*output.HintError](withInstallHint(u.Err)); ok {
					a.Hint(hinted.Hint)
				}
			case u.To == "":
				a.Printf("%s %s: it was installed from a file or a URL\n", u.Name, u.From)
			case u.Current():
				a.Printf("%s %s is the newest release\n", u.Name, u.From)
			default:
				a.Printf("%s %s: %s to %s\n", j.Action, u.Name, u.From, u.To)
			}
			if u.Installed != nil {
				warnUnused(a, *u.Installed)
			}
		}
		return a.Conclude(json, results, failed)
	})
}

func newPrune(a *app.App) *cobra.Command {
	var dryRun, json bool
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "Remove versions of plugins that nothing needs",
		Long: `Remove the installed versions of plugins that nothing needs. These are kept: the newest
release of each plugin, versions that your config file names, versions that the records of
workers name, and versions that swarm.toml or swarm.lock of a project name that
you trust.`,
		Example: `  swarm plugin prune --dry-run
  swarm plugin prune`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 0, ""),
		RunE:                  func(cmd *cobra.Command, _ []string) error { return runPrune(cmd.Context(), a, dryRun, json) },
	}
	f := cmd.Flags()
	f.BoolVarP(&dryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
	f.BoolVar(&json, "json", false, "print the versions as JSON")
	return cmd
}

type pluginPrunedJSON struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Size    int64  `json:"size"`
}

func runPrune(ctx context.Context, a *app.App, dryRun, json bool) error {
	output.FinishWriting()
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	keep, err := config.TrustedVersions(setup.TrustStore(dir))
	if err != nil {
		return err
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		pruned, err := h.Plugins().Prune(ctx, keep, dryRun)
		if err != nil {
			return err
		}
		if json {
			return a.PrintJSON(output.List(pruned, func(p pluginadmin.Pruned) pluginPrunedJSON { return pluginPrunedJSON(p) }))
		}
		verb := "removed"
		if dryRun {
			verb = "would remove"
		}
		for _, p := range pruned {
			a.Printf("%s %s %s (%d bytes)\n", verb, p.Name, p.Version, p.Size)
		}
		if len(pruned) == 0 {
			a.Hint("every installed version is needed")
		}
		return nil
	})
}
