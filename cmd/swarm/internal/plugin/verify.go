package plugin

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config/pluginlock"
	"github.com/swarmhost/swarm/host"
)

func newVerify(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "verify [NAME] [flags]",
		Short: "Compare installed plugins with their recorded hashes",
		Long: `Read all files of all installed plugins, or of all versions of NAME, and compare
them with the hashes that were recorded when they were installed. Files that were added
later are reported too. In a project with a swarm.lock, and without NAME, the project's plugins are
compared with it as well. No plugin is started.

Exit code: 0 if nothing has changed, else 1.`,
		Example: `  swarm plugin verify
  swarm plugin verify queue --json`,
		DisableFlagsInUseLine: true,
		Args:                  command.Arguments(0, 1, ""),
		ValidArgsFunction:     completeInstalled(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVerify(cmd.Context(), a, strings.Join(args, ""), json)
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the results as JSON")
	return cmd
}

type pluginVerdictJSON struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"`
}

func runVerify(ctx context.Context, a *app.App, name string, json bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		verdicts, err := h.Plugins().Verify(name)
		if err != nil {
			return err
		}
		list := make([]pluginVerdictJSON, len(verdicts))
		var result error
		for i, v := range verdicts {
			list[i] = pluginVerdictJSON{Name: v.Name, Version: v.Version, OK: len(v.Problems) == 0, Problems: append([]string{}, v.Problems...)}
			if !list[i].OK {
				result = output.Failed
			}
		}
		if name == "" {
			problems, err := lockProblems(a)
			switch {
			case err != nil:
				return err
			case problems != nil:
				list = append(list, pluginVerdictJSON{Name: pluginlock.FileName, Problems: problems}) //nolint:makezero // all of it is filled
				result = output.Failed
			}
		}
		if json {
			return cmp.Or(a.PrintJSON(list), result)
		}
		for _, v := range list {
			if v.OK {
				a.Printf("%s %s: ok\n", v.Name, v.Version)
			}
			for _, problem := range v.Problems {
				a.Printf("%s: %s\n", strings.TrimSpace(v.Name+" "+v.Version), problem)
			}
		}
		return result
	})
}
