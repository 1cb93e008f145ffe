package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
)

func newRalphPause(a *app) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "pause NAME",
		Short: "Pause a loop after its iteration",
		Long: `Pause a loop until it is resumed. The current iteration runs to its end; no other one
begins.`,
		Example: `  swarm ralph pause agent
  swarm ralph resume agent`,
		Args:              arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: a.completeOneRalph(),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.ralphPause(cmd.Context(), args[0], json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the loop as JSON")
	return cmd
}

// errAsItWas keeps a change from being written: there is nothing to change.
var errAsItWas = errors.New("as it was")

func (a *app) ralphPause(ctx context.Context, name string, json bool) error {
	return a.withHost(ctx, func(h *host.Host) error {
		worker, err := a.ralphWorker(ctx, h, name)
		if err != nil {
			return err
		}
		store, err := a.ralphStore()
		if err != nil {
			return err
		}
		st, err := store.Change(ctx, worker.Name, func(st *ralph.State) error {
			switch status, _ := loopStatus(*st, runs(worker)); status {
			case ralph.Paused:
				return errAsItWas
			case ralph.Running:
				st.Status = ralph.Paused
				return nil
			default:
				return &ralph.EndedError{Name: worker.Name, Status: status}
			}
		})
		switch {
		case errors.Is(err, errAsItWas):
			a.warn(fmt.Sprintf("worker '%s' is already paused", worker.Name), "")
		case err != nil:
			return noLoop(err)
		}
		if json {
			return a.printJSON(loopJSONOf(store, st, worker))
		}
		if err == nil {
			a.printf("paused ralph loop for %s\n", worker.Name)
		}
		return nil
	})
}
