package ralph

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/worker"
)

func newPause(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "pause NAME",
		Short: "Pause a loop after its iteration",
		Long: `Pause a loop until it is resumed. The current iteration runs to its end; no other one
begins.`,
		Example: `  swarm ralph pause agent
  swarm ralph resume agent`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE:              func(cmd *cobra.Command, args []string) error { return runPause(cmd.Context(), a, args[0], json) },
	}
	cmd.Flags().BoolVar(&json, "json", false, "print the loop as JSON")
	return cmd
}

// errUnchanged keeps a change from being written: there is nothing to change.
var errUnchanged = errors.New("unchanged")

func runPause(ctx context.Context, a *app.App, name string, json bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		w, err := ralphWorker(ctx, a, h, name)
		if err != nil {
			return err
		}
		loops := ralph.NewStore(h.Dir())
		st, err := loops.Change(ctx, w.Name, func(st *ralph.State) error {
			switch status, _ := loopStatus(*st, runs(w)); status {
			case ralph.Paused:
				return errUnchanged
			case ralph.Running:
				st.Status = ralph.Paused
				return nil
			default:
				return ralph.Ended(w.Name, status)
			}
		})
		switch {
		case errors.Is(err, errUnchanged):
			a.Warn(fmt.Sprintf("worker '%s' is already paused", w.Name), "")
		case err != nil:
			return noLoop(err)
		}
		if json {
			return a.PrintJSON(loopJSONOf(loops, st, w))
		}
		if err == nil {
			a.Printf("paused ralph loop for %s\n", w.Name)
		}
		return nil
	})
}

func newStop(a *app.App) *cobra.Command {
	o := &workers.KillOptions{}
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "End the worker of a loop",
		Long: `End the worker of a loop, as 'swarm kill' does: the agent, everything it started and
the loop itself. No iteration begins afterwards. 'swarm ralph resume' repeats the
iteration that was killed, unless --rm-worktree removed the loop with its worktree.`,
		Example: `  swarm ralph stop agent
  swarm ralph stop agent --rm-worktree`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: app.OfferOne(loopNames(a)),
		RunE:              func(cmd *cobra.Command, args []string) error { return runStop(cmd.Context(), a, args[0], o) },
	}
	f := cmd.Flags()
	f.Var(command.Duration(&o.Timeout), "timeout", "how long it may take to end, in place of its own grace")
	f.BoolVar(&o.RmWorktree, "rm-worktree", false, "remove its workspace and its loop afterwards")
	f.BoolVar(&o.ForceDirty, "force-dirty", false, "remove a workspace with uncommitted changes too, after saving them")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return cmd
}

func runStop(ctx context.Context, a *app.App, name string, o *workers.KillOptions) error {
	err := a.WithHost(ctx, func(h *host.Host) error {
		_, err := ralphWorker(ctx, a, h, name)
		return err
	})
	if err != nil {
		return err
	}
	return workers.RunKill(ctx, a, worker.Selection{Names: []string{name}}, o)
}
