package workers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
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
that is sent to it waits until it goes on.

To let a loop finish its iteration and stop then, use 'swarm ralph pause'.

With --all and --tag, workers that do not run are skipped.`
	cmd.Example = `  swarm pause build
  swarm pause --tag batch`
	return cmd
}

func NewResume(a *app.App) *cobra.Command {
	cmd := newPauseOf(a, false, "resumed %s")
	cmd.Use = "resume NAME... | --all | --tag TAG"
	cmd.Short = "Let paused workers go on"
	cmd.Long = `Let the processes of workers go on that 'swarm pause' has stopped. For a worker that is
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
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.Of(cmd, args)
			if err != nil {
				return err
			}
			return tellBounds(cmd.Context(), a, sel, line, o.json, func(ctx context.Context, h *host.Host, sel host.Selection) ([]host.BoundsOutcome, error) {
				return h.Pause(ctx, sel, paused)
			})
		},
	}
	o.AddTo(cmd, a)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

type bounder func(context.Context, *host.Host, host.Selection) ([]host.BoundsOutcome, error)

type boundsJSON struct {
	Name   string           `json:"name"`
	ID     string           `json:"id"`
	Done   bool             `json:"done"`
	Limits *view.LimitsJSON `json:"limits"`
	Error  *string          `json:"error"`
}

func tellBounds(ctx context.Context, a *app.App, sel host.Selection, line string, asJSON bool, bound bounder) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		outcomes, err := bound(ctx, h, sel)
		if err != nil {
			return err
		}
		results := make([]boundsJSON, len(outcomes))
		bad := false
		for i, out := range outcomes {
			w := out.Worker
			results[i] = boundsJSON{Name: w.Name, ID: w.ID, Done: out.Err == nil, Error: view.ErrorJSON(out.Err), Limits: view.LimitsJSONOf(w.Limits)}
			switch {
			case out.Err != nil:
				bad = true
				a.Fail(out.Err)
			case !asJSON:
				a.Printf(line+"\n", w.Name)
			}
		}
		if asJSON {
			err = a.PrintJSON(results)
		}
		if err == nil && bad {
			err = output.Failed
		}
		return err
	})
}
