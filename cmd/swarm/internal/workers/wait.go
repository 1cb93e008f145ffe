package workers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type waitOptions struct {
	command.Selection
	timeout command.DurationFlag
	until   untilFlag
	json    bool
}

func NewWait(a *app.App) *cobra.Command {
	o := &waitOptions{}
	cmd := &cobra.Command{
		Use:   "wait NAME... | --all | --tag TAG",
		Short: "Wait until workers end",
		Long: `Wait until all of the given workers have ended, and print each one as it ends.
Workers that ended before count. Nothing is polled and nothing is changed.

With --until, wait until each of them is in that state: idle (at its prompt), blocked
(it asks something), or working. This works for agents that have a profile and a
terminal. It is an error if a worker ends before.

Exit code for one worker: its own; 128+N if signal N ended it; 125 if its exit can't be
known. For several workers: 0 if all exited with 0, else 1. 124 if the time is over.
With --until: 0 once all are in that state.`,
		Example: `  swarm wait build && echo done
  swarm wait agent --until idle,blocked --timeout 10m
  swarm wait test lint --timeout 10m
  swarm wait --all`,
		ValidArgsFunction: a.CompleteWorkers,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.Of(cmd, args)
			if err != nil {
				return err
			}
			if o.until.states != nil {
				return runWaitUntil(cmd.Context(), a, sel, o)
			}
			return runWait(cmd.Context(), a, sel, o)
		},
	}
	o.AddTo(cmd, a)
	cmd.Flags().Var(&o.timeout, "timeout", "how long to wait at most")
	cmd.Flags().Var(&o.until, "until", "wait for a state of agents instead: idle, blocked, working, ended (default: ended)")
	command.CompleteWith(cmd, "until", "idle", "blocked", "working", "idle,blocked", untilEnded)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the workers as JSON at the end")
	return cmd
}

func runWait(ctx context.Context, a *app.App, sel host.Selection, o *waitOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		waiting, cancel := o.timeout.Limit(ctx)
		defer cancel()
		var ended []host.Worker
		err := h.Wait(waiting, sel, func(w host.Worker) {
			ended = append(ended, w)
			if !o.json {
				printEnd(a, w)
			}
		})
		over := o.timeout.Over(waiting, err)
		if err != nil && over == nil {
			return err
		}
		if over != nil {
			var late []host.Worker
			late, over = stillRunning(ctx, h, sel, ended, over)
			for _, w := range late {
				ended = append(ended, w)
				if !o.json {
					printEnd(a, w)
				}
			}
		}
		if o.json {
			if err := a.PrintJSON(view.WorkersJSONIn(a, ended)); err != nil {
				return err
			}
		}
		if over != nil {
			return over
		}
		if code := waitCode(ended); code != 0 {
			return &output.CodeError{Code: code}
		}
		return nil
	})
}

// stillRunning checks the workers of a wait once more after its time is over. It returns
// those that have ended meanwhile, and an error that names the others; it is nil if all
// have ended.
func stillRunning(ctx context.Context, h *host.Host, sel host.Selection, ended []host.Worker, over error) ([]host.Worker, error) {
	workers, _, err := h.Workers(ctx, sel)
	if err != nil {
		return nil, over
	}
	var late []host.Worker
	var names []string
	for _, w := range workers {
		switch {
		case slices.ContainsFunc(ended, func(e host.Worker) bool { return e.ID == w.ID }):
		case w.Status == host.StatusStopped:
			late = append(late, w)
		case !w.Gone():
			names = append(names, w.Name)
		}
	}
	switch {
	case names != nil:
		return late, &output.CodeError{Code: output.ExitTimeout, Err: fmt.Errorf("%w; still running: %s", over, strings.Join(names, ", "))}
	case len(ended)+len(late) == len(workers):
		return late, nil
	default:
		return late, over
	}
}

func printEnd(a *app.App, w host.Worker) {
	switch w.Status {
	case host.StatusStopped:
		if w.Exit != nil && w.Exit.Cause == swarm.CauseOutOfMemory {
			a.Printf("%s: %s\n", w.Name, view.ExitText(w))
			return
		}
		a.Printf("%s: exited\n", w.Name)
	case host.StatusUnknown:
		a.Printf("%s: unknown\n", w.Name)
		a.Warn(fmt.Sprintf("cannot get the status of '%s': %s", w.Name, output.OrText(w.Reason, "its backend can't be asked")), "")
	default:
		a.Printf("%s: %s\n", w.Name, w.Status)
	}
}

// waitCode is the exit code of the one worker, or what holds for all of them.
func waitCode(ws []host.Worker) int {
	if len(ws) == 1 {
		return view.ExitCode(ws[0])
	}
	for _, w := range ws {
		if view.ExitCode(w) != 0 {
			return output.ExitFailed
		}
	}
	return 0
}
