package ralph

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/worker"
)

type cleanOptions struct{ all, json bool }

func newClean(a *app.App) *cobra.Command {
	o := &cleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean NAME... | --all",
		Short: "Remove the state of loops",
		Long: `Remove the state and the log of loops. Their workers are kept: a running one ends after
its iteration.`,
		Example: `  swarm ralph clean agent
  swarm ralph clean --all`,
		ValidArgsFunction: app.Offer(loopNames(a)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && o.all:
				return output.Usagef("worker names and --all exclude each other")
			case len(args) == 0 && !o.all:
				return output.Usagef("must specify worker name or --all")
			}
			return runClean(cmd.Context(), a, args, o)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "all loops")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func runClean(ctx context.Context, a *app.App, names []string, o *cleanOptions) error {
	output.FinishWriting()
	loops, err := a.RalphStore()
	if err != nil {
		return err
	}
	if o.all {
		if names, err = loops.Names(); err != nil {
			return err
		}
	}
	var workers map[string]worker.Worker
	if len(names) > 0 {
		if workers, err = workersByName(ctx, a); err != nil {
			return err
		}
	}
	results := make([]loopCleanJSON, len(names))
	var errs []error
	for i, name := range names {
		err := removeLoop(ctx, loops, name)
		results[i] = loopCleanJSON{Name: name, Cleaned: err == nil, Error: view.ErrorJSON(err)}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if w := workers[name]; w.Ralph && runs(w) {
			a.Warn(fmt.Sprintf("worker '%s' is still running (only ralph state removed)", name), "")
		}
		if !o.json {
			a.Printf("cleaned ralph state for %s\n", name)
		}
	}
	if o.json {
		errs = append(errs, a.PrintJSON(results))
	}
	return errors.Join(errs...)
}

type loopCleanJSON struct {
	Name    string  `json:"name"`
	Cleaned bool    `json:"cleaned"`
	Error   *string `json:"error"`
}

func removeLoop(ctx context.Context, loops ralph.Store, name string) error {
	removed, err := loops.Remove(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("cannot remove ralph state for '%s': %w", name, err)
	case !removed:
		return ralph.NoState(name)
	}
	return nil
}

func workersByName(ctx context.Context, a *app.App) (map[string]worker.Worker, error) {
	byName := make(map[string]worker.Worker)
	err := a.WithHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, worker.Selection{All: true})
		a.WarnAll(warnings)
		for _, w := range workers {
			byName[w.Name] = w
		}
		return err
	})
	return byName, err
}
