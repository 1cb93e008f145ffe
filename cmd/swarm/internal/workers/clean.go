package workers

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/worker"
)

type cleanOptions struct {
	command.Selection
	rmWorktree   bool
	noRmWorktree bool
	forceDirty   bool
	forget       bool
	json         bool
}

func NewClean(a *app.App) *cobra.Command {
	o := &cleanOptions{}
	cmd := &cobra.Command{
		Use:   "clean NAME... | --all | --tag TAG",
		Short: "Remove stopped workers, with their output and worktrees",
		Long: `Remove the record, the output and the git worktree of workers that have ended.
Running workers are never touched: --all skips them.

A worktree in which work would be lost is kept, and its worker's record is
removed all the same. --force-dirty removes it with uncommitted changes too; they
are saved before, and the command that brings them back is printed. No branch is
ever deleted. If the machine of a worktree can't be reached, worktree and record stay.

A worker that is unknown, because its host or cluster does not answer, is not cleaned, and
neither is a lost one whose main process is perhaps alive. --forget removes the record all
the same, but not the worktree: what runs there continues, and 'swarm adopt' may find a worker
of an engine again.`,
		Example: `  swarm clean agent
  swarm clean --all --no-rm-worktree
  swarm clean build --forget`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, other := range []string{"force-dirty", "rm-worktree"} {
				if cmd.Flags().Changed("no-rm-worktree") && cmd.Flags().Changed(other) {
					return output.Usagef("--no-rm-worktree and --%s exclude each other", other)
				}
			}
			if o.forget && len(args) == 0 {
				return output.Usagef("--forget needs the names of the workers")
			}
			sel, err := o.Of(cmd, args)
			if err != nil {
				return err
			}
			return runClean(cmd.Context(), a, sel, o)
		},
	}
	o.AddTo(cmd, a)
	f := cmd.Flags()
	f.BoolVar(&o.rmWorktree, "rm-worktree", true, "remove workspaces, such as git worktrees, which is the default")
	f.BoolVar(&o.noRmWorktree, "no-rm-worktree", false, "leave workspaces, such as git worktrees, where they are")
	f.BoolVar(&o.forceDirty, "force-dirty", false, "remove workspaces with uncommitted changes too, after saving them")
	f.BoolVar(&o.forget, "forget", false, "remove the records of workers that can't be asked or are lost, and leave what runs")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func runClean(ctx context.Context, a *app.App, sel worker.Selection, o *cleanOptions) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		failed := false
		var done []kill.Outcome
		outcomes, err := h.Kill().Clean(ctx, sel, kill.CleanRequest{
			KeepWorkspace: o.noRmWorktree || !o.rmWorktree,
			ForceDirty:    o.forceDirty,
			Forget:        o.forget,
			Done: func(outcome kill.Outcome) {
				done = append(done, outcome)
				if outcome.Err != nil {
					failed = true
					a.Fail(outcome.Err)
				} else if !o.json {
					a.Printf("cleaned %s\n", outcome.Worker.Name)
				}
				view.Remarks(a, outcome.Warnings, outcome.Notices)
			},
		})
		if err != nil && (!o.json || len(done) == 0) {
			return err
		}
		if err != nil { // some are clean all the same
			return errors.Join(a.PrintJSON(output.List(done, view.CleanJSONOf)), err)
		}
		if len(outcomes) == 0 {
			a.NoWorkers(sel, "stopped")
		}
		return a.Conclude(o.json, output.List(outcomes, view.CleanJSONOf), failed)
	})
}
