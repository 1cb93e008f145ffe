package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
)

type ralphCleanOptions struct{ all bool }

func newRalphClean(a *app) *cobra.Command {
	o := &ralphCleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean NAME... | --all",
		Short: "Remove the state of loops",
		Long: `Remove the state and the log of loops. Their workers stay: one that runs ends after
its iteration.`,
		Example: `  swarm ralph clean agent
  swarm ralph clean --all`,
		ValidArgsFunction: a.completeRalph,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && o.all:
				return usagef("worker names and --all exclude each other")
			case len(args) == 0 && !o.all:
				return errors.New("must specify worker name or use --all")
			}
			return a.ralphClean(cmd.Context(), args, o.all)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "all loops")
	return cmd
}

func (a *app) ralphClean(ctx context.Context, names []string, all bool) error {
	finishWriting()
	store, err := a.ralphStore()
	if err != nil {
		return err
	}
	if all {
		if names, err = store.Names(); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	workers, err := a.workersByName(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		removed, err := store.Remove(ctx, name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("cannot remove ralph state for '%s': %w", name, err))
			continue
		case !removed && !all:
			errs = append(errs, fmt.Errorf("no ralph state found for worker '%s'", name))
			continue
		}
		if w := workers[name]; w.Ralph && runs(w) {
			a.warn(fmt.Sprintf("worker '%s' is still running (only ralph state removed)", name), "")
		}
		a.printf("cleaned ralph state for %s\n", name)
	}
	return errors.Join(errs...)
}

// workersByName returns all workers as they are now.
func (a *app) workersByName(ctx context.Context) (map[string]host.Worker, error) {
	byName := make(map[string]host.Worker)
	err := a.withHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, host.Selection{All: true})
		for _, text := range warnings {
			a.warn(text, "")
		}
		for _, w := range workers {
			byName[w.Name] = w
		}
		return err
	})
	return byName, err
}
