package workers

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// The exit codes of status next to 0 for a running worker.
const (
	statusStopped  = 1
	statusNotFound = 2
	statusUnclear  = 3
)

func NewStatus(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show a worker's status",
		Long: `Show in one line the status of a worker. It is checked now, at the worker itself;
nothing is changed. An exit code is always the real one: if it can never be known, the
worker is "lost". For a running agent, the line also says whether its screen shows that
it works, is idle or asks something, and what; 'swarm explain' shows why. The whole
dialog is shown below.

Exit code: 0 running, 1 ended, 2 no such worker, 3 anything else (starting,
pending, unknown, or lost with processes that are alive or perhaps alive).`,
		Example: `  swarm status build
  swarm status build > /dev/null || swarm spawn --name build2 -- make watch
  swarm status build --json | jq .exit.code`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the worker as JSON")
	return cmd
}

func runStatus(ctx context.Context, a *app.App, name string, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, worker.Selection{Names: []string{name}, States: true})
		if errors.Is(err, store.ErrNotFound) {
			return &output.CodeError{Code: statusNotFound, Err: err}
		}
		if err != nil {
			return &output.CodeError{Code: statusUnclear, Err: err}
		}
		a.WarnAll(warnings)
		if len(workers) == 0 {
			return &output.CodeError{Code: statusUnclear}
		}
		w := workers[0]
		if asJSON {
			err = a.PrintJSON(view.WorkerJSONIn(a, w))
		} else {
			a.Printf("%s\n", view.StatusLine(w, time.Now()))
			for _, line := range view.DialogLines(w.State) {
				a.Printf("%s\n", output.Made("  | "+line))
			}
			lastWords(ctx, a, h, w)
		}
		if code := statusCode(w); err == nil && code != 0 {
			return &output.CodeError{Code: code}
		}
		return err
	})
}

// reasonLines is how many of the last lines of a failed worker are printed.
const reasonLines = 5

// lastWords prints the last lines of a worker that failed or is lost, where the reason usually is.
func lastWords(ctx context.Context, a *app.App, h *host.Host, w worker.Worker) {
	switch condition.Of(w).Kind {
	case condition.Failed, condition.CrashLoop, condition.Lost:
	default:
		return
	}
	peek, err := h.Display().Peek(ctx, w.ID, reasonLines)
	if err != nil || len(peek.Lines) == 0 {
		return // the call has printed its answer
	}
	a.Hint("its last lines:")
	for _, line := range peek.Lines[max(0, len(peek.Lines)-reasonLines):] {
		a.Hint("  " + line)
	}
}

func statusCode(w worker.Worker) int {
	switch {
	case w.Status == worker.StatusRunning:
		return 0
	case w.Gone():
		return statusStopped
	default:
		return statusUnclear
	}
}
