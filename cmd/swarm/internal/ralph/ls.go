package ralph

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/worker"
)

type lsOptions struct {
	format, status *command.ChoiceFlag
	json           bool
}

func newLs(a *app.App) *cobra.Command {
	o := &lsOptions{}
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List loops",
		Long: `List all loops, including those whose worker has ended or was cleaned ("removed").
FAILURES shows the failures in a row and all failures.`,
		Example: `  swarm ralph ls
  swarm ralph ls --status failed --format names
  swarm ralph ls --json | jq '.[] | {worker_name, current_iteration}'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLs(cmd.Context(), a, o) },
	}
	o.format = command.Choice(cmd, "format", "format of the list", "table", "table", "json", "names")
	o.status = command.Choice(cmd, "status", "only loops with this status", "all", "all",
		string(ralph.Running), string(ralph.Paused), string(ralph.Stopped), string(ralph.Failed))
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	return cmd
}

func runLs(ctx context.Context, a *app.App, o *lsOptions) error {
	store, err := a.RalphStore()
	if err != nil {
		return err
	}
	names, err := store.Names()
	if err != nil {
		return err
	}
	var workers map[string]worker.Worker
	if len(names) > 0 && (o.status.Value != "all" || o.format.Value != "names") {
		if workers, err = workersByName(ctx, a); err != nil {
			return err
		}
	}
	loops := []loopJSON{}
	for _, name := range names {
		st, err := store.Load(name)
		if errors.Is(err, ralph.ErrNoState) {
			continue // it never came to be, or was removed just now
		}
		if err != nil {
			a.Warn(err.Error(), "")
			continue
		}
		l := loopJSONOf(store, st, workers[name])
		if o.status.Value == "all" || string(l.Status) == o.status.Value {
			loops = append(loops, l)
		}
	}
	if o.json {
		o.format.Value = "json"
	}
	switch o.format.Value {
	case "json":
		return a.PrintJSON(loops)
	case "names":
		for _, l := range loops {
			a.Printf("%s\n", l.Name)
		}
	default:
		rows := make([][]string, len(loops))
		for i, l := range loops {
			rows[i] = []string{
				l.Name, l.statusText(), l.WorkerStatus,
				fmt.Sprintf("%d/%d", l.Iteration, l.MaxIterations),
				strconv.Itoa(l.Failures) + "/" + strconv.Itoa(l.TotalFailures),
			}
		}
		a.PrintTable([]string{"NAME", "STATUS", "WORKER", "ITERATION", "FAILURES"}, rows)
	}
	return nil
}

type loopJSON struct {
	ralph.State
	// WorkerStatus is the status of the worker, "removed" if its record is gone.
	WorkerStatus string `json:"worker_status"`
	// LastOutput is when the agent wrote last.
	LastOutput *string `json:"last_screen_change"`
	Directory  string  `json:"directory"`
}

// statusText is the status of a loop for people, with the reason if only that says what to do.
func (l *loopJSON) statusText() string {
	switch {
	case l.Status == ralph.Paused && l.ExitReason == ralph.ReasonProgress:
		return string(l.Status) + " (no progress)"
	case l.Status == ralph.Stopped && l.ExitReason == ralph.ReasonTime:
		return string(l.Status) + " (time used)"
	default:
		return string(l.Status)
	}
}

const workerRemoved = "removed"

// loopJSONOf returns the JSON of a loop; the worker is zero if its record is gone.
func loopJSONOf(store ralph.Store, st ralph.State, w worker.Worker) loopJSON {
	l := loopJSON{
		State: st, WorkerStatus: string(w.Status),
		LastOutput: output.TimeJSON(store.LastOutput(st.Name)), Directory: store.Dir(st.Name),
	}
	if !w.Ralph {
		w, l.WorkerStatus = worker.Worker{}, workerRemoved
	}
	l.Status, l.ExitReason = loopStatus(st, runs(w))
	return l
}
