package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
)

type cleanOptions struct {
	selection
	rmWorktree   bool
	noRmWorktree bool
	forceDirty   bool
	json         bool
}

func newClean(a *app) *cobra.Command {
	o := &cleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean NAME... | --all | --tag TAG",
		Short: "Remove stopped workers, with their output and worktrees",
		Long: `Remove the record, the output and the git worktree of workers that have ended.
Running workers are never touched: --all skips them.

A worktree in which work would be lost is kept, and its worker's record is
removed all the same. --force-dirty removes it with uncommitted changes too; they
are saved before, and the command that brings them back is printed. No branch is
ever deleted.`,
		Example: `  swarm clean agent
  swarm clean --all --no-rm-worktree`,
		ValidArgsFunction: a.completeWorkers,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, other := range []string{"force-dirty", "rm-worktree"} {
				if cmd.Flags().Changed("no-rm-worktree") && cmd.Flags().Changed(other) {
					return usagef("--no-rm-worktree and --%s exclude each other", other)
				}
			}
			sel, err := o.of(cmd, args)
			if err != nil {
				return err
			}
			return a.clean(cmd.Context(), sel, o)
		},
	}
	o.addTo(cmd, a)
	f := cmd.Flags()
	f.BoolVar(&o.rmWorktree, "rm-worktree", true, "remove git worktrees, which is the default")
	f.BoolVar(&o.noRmWorktree, "no-rm-worktree", false, "leave git worktrees where they are")
	f.BoolVar(&o.forceDirty, "force-dirty", false, "remove worktrees with uncommitted changes too, after saving them")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func (a *app) clean(ctx context.Context, sel host.Selection, o *cleanOptions) error {
	finishWriting()
	return a.withHost(ctx, func(h *host.Host) error {
		failures := false
		outcomes, err := h.Clean(ctx, sel, host.CleanRequest{
			KeepWorkspace: o.noRmWorktree || !o.rmWorktree,
			ForceDirty:    o.forceDirty,
			Done: func(outcome host.CleanOutcome) {
				if outcome.Err != nil {
					failures = true
					a.fail(outcome.Err)
				} else if !o.json {
					a.printf("cleaned %s\n", outcome.Worker.Name)
				}
				a.remarks(outcome.Warnings, outcome.Notices)
			},
		})
		if err != nil {
			return err
		}
		if o.json {
			if err := a.printJSON(cleanJSONOf(outcomes)); err != nil {
				return err
			}
		}
		if failures {
			return failed
		}
		return nil
	})
}
