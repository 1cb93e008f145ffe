package history

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
)

func NewGC(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Bring the history up to date once",
		Long: `Do once what "swarm watch" does continuously: record the ends of workers that were not
watched, with the time when they ended; remove workers whose retention time is over,
run directories that belong to no worker, and lock files of killed processes; kill workers whose owner has ended if
their backend does not do that. Other running workers and all worktrees are not
touched.

It prints one line for each thing that it did, and nothing if there was nothing to do.`,
		Example: `  swarm gc
  swarm gc --json | jq '.ended[].name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runGC(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

func runGC(ctx context.Context, a *app.App, asJSON bool) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		done, err := h.Collect(ctx)
		a.WarnAll(done.Warnings)
		if asJSON {
			if err != nil {
				return err
			}
			return a.PrintJSON(collectedJSONOf(done))
		}
		// Everything that was done before an error is printed too.
		for _, w := range done.Killed {
			a.Printf("killed %s\n", w.Name)
		}
		for _, w := range done.Ended {
			a.Printf("ended %s\n", w.Name)
		}
		for _, w := range done.Removed {
			a.Printf("removed %s\n", w.Name)
		}
		switch n := done.RunDirs; n {
		case 0:
		case 1:
			a.Printf("removed 1 run directory of no worker\n")
		default:
			a.Printf("removed %d run directories of no worker\n", n)
		}
		return err
	})
}

type collectedJSON struct {
	Ended          []workerNameJSON `json:"ended"`
	Removed        []workerNameJSON `json:"removed"`
	Killed         []workerNameJSON `json:"killed"`
	RunDirectories int              `json:"run_directories"`
	Warnings       []string         `json:"warnings"`
}

type workerNameJSON struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

func collectedJSONOf(c watch.Collected) collectedJSON {
	return collectedJSON{
		Ended:          workerNamesJSON(c.Ended),
		Removed:        workerNamesJSON(c.Removed),
		Killed:         workerNamesJSON(c.Killed),
		RunDirectories: c.RunDirs,
		Warnings:       append([]string{}, c.Warnings...),
	}
}

func workerNamesJSON(recs []registry.Record) []workerNameJSON {
	list := make([]workerNameJSON, len(recs))
	for i, r := range recs {
		list[i] = workerNameJSON{Name: r.Name, ID: r.ID}
	}
	return list
}
