package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/worker"
)

type pauseOptions struct {
	command.Selection
	json bool
}

func NewPause(a *app.App) *cobra.Command {
	cmd := newPauseOf(a, true, "paused %s")
	cmd.Use = "pause NAME... | --all | --tag TAG"
	cmd.Short = "Stop workers for a while"
	cmd.Long = `Stop all processes of workers until 'swarm resume'. They keep their memory, their
terminals and their connections, and use no CPU time. When the call returns, none of them
runs. 'swarm ls' shows such a worker as paused.

A worker with limits is frozen by its control group, of which its programs notice
nothing; the processes of others get SIGSTOP. A paused worker can be killed. Input
that is sent to it waits until it continues.

To let a loop finish its iteration and stop then, use 'swarm ralph pause'.

With --all and --tag, workers that do not run are skipped.`
	cmd.Example = `  swarm pause build
  swarm pause --tag batch`
	return cmd
}

func NewResume(a *app.App) *cobra.Command {
	cmd := newPauseOf(a, false, "resumed %s")
	cmd.Use = "resume NAME... | --all | --tag TAG"
	cmd.Short = "Let paused workers continue"
	cmd.Long = `Let the processes of workers continue that 'swarm pause' has stopped. For a worker that is
not paused this changes nothing.

A loop that was stopped by 'swarm ralph pause', or that has ended, is continued by
'swarm ralph resume'.

With --all and --tag, workers that do not run are skipped.`
	cmd.Example = `  swarm resume build
  swarm resume --all`
	return cmd
}

func newPauseOf(a *app.App, paused bool, line string) *cobra.Command {
	o := &pauseOptions{}
	cmd := &cobra.Command{
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error {
			return reportBounds(ctx, a, sel, line, o.json, func(h *host.Host) ([]input.Outcome, error) {
				return h.Input().Pause(ctx, sel, paused)
			})
		}),
	}
	o.AddTo(cmd, a)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

type updateOptions struct {
	command.Selection
	limits command.Limits
	json   bool
}

func NewUpdate(a *app.App) *cobra.Command {
	o := &updateOptions{}
	cmd := &cobra.Command{
		Use:   "update NAME... | --all | --tag TAG",
		Short: "Change the limits of workers",
		Long: `Change what running workers may use. Limits that are not named stay; none ends one. The
new limits hold when the call returns, and also after a restart and a respawn.

Less memory than a worker holds is refused, if it can't give enough back: no process is
killed by a new limit. A worker that was spawned without any limit has no control group, so
it can only get another priority; respawn it with limits instead.

With --all and --tag, workers that do not run are skipped.`,
		Example: `  swarm update tests --memory 4g
  swarm update tests --cpus 0.5 --pids none
  swarm update --tag batch --nice 19`,
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error {
			if !o.limits.Given() {
				return output.Usagef("must specify --memory, --cpus, --pids, --nice or --io-weight")
			}
			return reportBounds(ctx, a, sel, "updated %s", o.json, func(h *host.Host) ([]input.Outcome, error) {
				return h.Input().SetLimits(ctx, sel, o.limits.Apply)
			})
		}),
	}
	o.AddTo(cmd, a)
	o.limits.AddTo(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

type boundsJSON struct {
	Name   string           `json:"name"`
	ID     string           `json:"id"`
	Done   bool             `json:"done"`
	Limits *view.LimitsJSON `json:"limits"`
	Error  *string          `json:"error"`
}

func boundsJSONOf(out input.Outcome) boundsJSON {
	w := out.Worker
	return boundsJSON{w.Name, w.ID, out.Err == nil, view.LimitsJSONOf(w.Limits), view.ErrorJSON(out.Err)}
}

type bounder func(*host.Host) ([]input.Outcome, error)

// reportBounds prints what bound has done; line is printed for each worker.
func reportBounds(ctx context.Context, a *app.App, sel worker.Selection, line string, asJSON bool, bound bounder) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		outcomes, err := bound(h)
		if err != nil && len(outcomes) == 0 {
			return err
		}
		if len(outcomes) == 0 {
			a.NoWorkers(sel, "running")
		}
		failed := false
		for _, out := range outcomes {
			switch {
			case errors.Is(out.Err, context.Canceled):
				a.Hint(fmt.Sprintf("interrupted; 'swarm show %s' shows how it is now", out.Worker.Name))
				err = cmp.Or(err, out.Err)
			case out.Err != nil:
				failed = true
				a.Fail(out.Err)
			case !asJSON:
				a.Printf(line+"\n", out.Worker.Name)
			}
		}
		return cmp.Or(err, a.Conclude(asJSON, output.List(outcomes, boundsJSONOf), failed))
	})
}
