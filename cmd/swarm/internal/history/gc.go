package history

import (
	"context"
	"errors"
	"time"

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
	var before *time.Duration
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Bring the history up to date once",
		Long: `Do once what "swarm watch" does continuously: record the ends of workers that were not
watched, with the time when they ended; remove workers whose retention time has run out,
run directories that belong to no worker, and lock files of killed processes; finish the
removal of workspaces that was interrupted when their directories were gone already; kill
workers whose owner has ended if their backend does not do that. Other running workers and
the directories of all workspaces are not touched.

The history is kept without limit, unless [history] of ~/.config/swarm/config.toml says how
long: "keep" is a duration. Older events are removed then, and with --events-before
those that are older than its duration. The end of each listed worker and its newest
event of each kind always stay. A hook, or a command that follows the
history, says so if events were removed before it read them.

It prints one line for each thing that it did, and nothing if there was nothing to do.`,
		Example: `  swarm gc
  swarm gc --json | jq '.ended[].name'
  swarm gc --events-before 2160h`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runGC(cmd.Context(), a, asJSON, before) },
	}
	cmd.Flags().Var(command.Duration(&before), "events-before", "remove events that are older than this, such as 720h for 30 days")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

// runGC brings the history up to date. Everything that was done before an error is printed
// too. Events that are older than before are removed.
func runGC(ctx context.Context, a *app.App, asJSON bool, before *time.Duration) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		var removed int
		var err error
		if before != nil {
			removed, err = h.History().RemoveEvents(ctx, time.Now().Add(-*before))
		}
		var done watch.Collected
		if err == nil {
			done, err = h.Watch().Collect(ctx)
		}
		done.Events += removed
		a.WarnAll(done.Warnings)
		if asJSON {
			return errors.Join(a.PrintJSON(collectedJSONOf(done)), err)
		}
		printCollected(a, done)
		return err
	})
}

func printCollected(a *app.App, done watch.Collected) {
	each := func(line string, workers []registry.Record) {
		for _, w := range workers {
			a.Printf(line+"\n", w.Name)
		}
	}
	each("killed %s", done.Killed)
	each("ended %s", done.Ended)
	each("removed %s", done.Removed)
	each("finished the removal of the workspace of %s", done.Workspaces)
	switch n := done.RunDirs; n {
	case 0:
	case 1:
		a.Printf("removed 1 run directory of no worker\n")
	default:
		a.Printf("removed %d run directories of no worker\n", n)
	}
	switch n := done.Events; n {
	case 0:
	case 1:
		a.Printf("removed 1 event\n")
	default:
		a.Printf("removed %d events\n", n)
	}
}

type collectedJSON struct {
	Ended          []workerNameJSON `json:"ended"`
	Removed        []workerNameJSON `json:"removed"`
	Killed         []workerNameJSON `json:"killed"`
	RunDirectories int              `json:"run_directories"`
	Warnings       []string         `json:"warnings"`
	// RemovedEvents is there if there were any.
	RemovedEvents int `json:"removed_events,omitempty"`
	// RemovedWorktrees are the workers whose workspace was removed by an interrupted call, if
	// there are any.
	RemovedWorktrees []workerNameJSON `json:"removed_worktrees,omitempty"`
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
		RemovedEvents:  c.Events,

		RemovedWorktrees: workerNamesJSON(c.Workspaces),
	}
}

func workerNamesJSON(recs []registry.Record) []workerNameJSON {
	return output.List(recs, func(r registry.Record) workerNameJSON { return workerNameJSON{Name: r.Name, ID: r.ID} })
}
