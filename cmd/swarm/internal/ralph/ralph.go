package ralph

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "ralph",
		Short: "Run an agent again and again with the same prompt",
		Long: `Run an agent in a loop: each iteration starts it anew, gives it the prompt from a
file, and ends when the agent exits, ends its turn, falls silent, or writes text that
matches --done-pattern.
The loop is one worker, so it continues when the terminal is gone, and ls, logs,
attach, send and kill work on it as on any other worker.`,
		Example: `  swarm ralph init
  swarm ralph spawn --name agent --prompt-file PROMPT.md --done-pattern 'ALL DONE' -- claude
  swarm ralph status agent
  swarm ralph pause agent
  swarm ralph resume agent`,
	},
		newSpawn(a), newStatus(a), newLs(a), newPause(a), newResume(a), newStop(a),
		newLogs(a), newClean(a), newInit(a), newTemplate(a), newRun(a), newFar(a))
}

// loopNames returns a function that lists all loops, whether they have a worker or not.
func loopNames(a *app.App) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) {
		loops, err := a.RalphStore()
		if err != nil {
			return nil, err
		}
		return loops.Names()
	}
}

func ralphWorker(ctx context.Context, a *app.App, h *host.Host, name string) (worker.Worker, error) {
	workers, warnings, err := h.Workers(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	a.WarnAll(warnings)
	switch {
	case len(workers) == 0:
		return worker.Worker{}, &store.NotFoundError{Name: name}
	case !workers[0].Ralph:
		return workers[0], fmt.Errorf("worker '%s' is not a ralph worker", name)
	}
	return workers[0], nil
}

// loopStatus returns the status of a loop, corrected by the status of its worker.
func loopStatus(st ralph.State, running bool) (ralph.Status, ralph.Reason) {
	switch {
	case !running && st.Status == ralph.Running:
		return ralph.Stopped, ralph.ReasonKilled // before it could record its end
	case !running && st.Status == ralph.Paused:
		return st.Status, ralph.ReasonKilled // the pause outlives its worker
	}
	return st.Status, st.ExitReason
}

// runs reports whether a worker may be running its loop.
func runs(w worker.Worker) bool { return w.Name != "" && !w.Gone() }

func noLoop(err error) error {
	if errors.Is(err, ralph.ErrState) {
		return output.WithHint(err, "'swarm ralph clean NAME' removes it")
	}
	return err
}
