package workers

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/humane"
)

type lsOptions struct {
	format, status *command.ChoiceFlag
	json           bool
	tag            string
}

func NewLs(a *app.App) *cobra.Command {
	o := &lsOptions{}
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List workers",
		Long: `List all workers. Ended workers stay listed until they are cleaned. The status of each
is checked now; nothing is changed. If a backend can't be reached, its workers are
"unknown"; other workers are not affected.

Running agents also have a state: working, idle, blocked or unknown, as their screens
show it; 'swarm status' shows the question of a blocked agent.`,
		Example: `  swarm ls
  swarm ls --status running --tag login
  swarm ls --format names | xargs swarm wait
  swarm ls --json | jq -r '.[] | select(.exit != null and .exit.code != 0) | .name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLs(cmd.Context(), a, o) },
	}
	o.format = command.Choice(cmd, "format", "format of the list", "table", "table", "json", "names")
	o.status = command.Choice(cmd, "status", "only workers with this status", "all",
		"all", "starting", "running", "stopped", "lost", "unknown")
	cmd.Flags().BoolVar(&o.json, "json", false, "the same as --format json")
	cmd.Flags().StringVar(&o.tag, "tag", "", "only workers with this `TAG`")
	return cmd
}

func runLs(ctx context.Context, a *app.App, o *lsOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, host.Selection{All: o.tag == "", Tag: o.tag, States: o.format.Value != "names"})
		if err != nil {
			return err
		}
		for _, text := range warnings {
			a.Warn(text, "")
		}
		if o.status.Value != "all" {
			workers = slices.DeleteFunc(workers, func(w host.Worker) bool { return string(w.Status) != o.status.Value })
		}
		if o.json {
			o.format.Value = "json"
		}
		switch o.format.Value {
		case "json":
			return a.PrintJSON(view.WorkersJSONIn(a, workers))
		case "names":
			for _, w := range workers {
				a.Printf("%s\n", w.Name)
			}
		default:
			a.PrintTable(withStates(workers, lsHeader, lsRows(workers, time.Now())))
		}
		return nil
	})
}

var lsHeader = []string{"NAME", "STATUS", "PID/WINDOW", "STARTED", "WORKTREE", "TAG"}

func lsRows(workers []host.Worker, now time.Time) [][]string {
	rows := make([][]string, len(workers))
	for i, w := range workers {
		rows[i] = []string{
			w.Name, string(w.Status), output.OrDash(pidOrWindow(w)), output.OrDash(startedAgo(w, now)),
			output.OrDash(worktreePath(w)), output.OrDash(strings.Join(w.Tags, ",")),
		}
	}
	return rows
}

// withStates adds a column with the states of agents, if there are any.
func withStates(workers []host.Worker, header []string, rows [][]string) ([]string, [][]string) {
	if !slices.ContainsFunc(workers, func(w host.Worker) bool { return w.State != nil }) {
		return header, rows
	}
	for i, w := range workers {
		state := ""
		if w.State != nil {
			state = string(w.State.State)
		}
		rows[i] = append(rows[i], output.OrDash(state))
	}
	return append(slices.Clone(header), "STATE"), rows
}

// pidOrWindow returns the location of a living worker; the pid of an ended one may belong
// to another process by now.
func pidOrWindow(w host.Worker) string {
	switch {
	case w.Gone():
		return ""
	case w.Where.Name != "":
		return w.Where.Name
	case w.Status == host.StatusRunning && view.MissingPlace(w) != "":
		return "(" + view.MissingPlace(w) + ")"
	case w.PID != 0:
		return strconv.Itoa(w.PID)
	case w.BetweenStarts():
		return "restarting"
	default:
		return ""
	}
}

func startedAgo(w host.Worker, now time.Time) string {
	if w.Started.IsZero() || w.BetweenStarts() {
		return ""
	}
	return humane.Age(now.Sub(w.Started)) + " ago"
}

func worktreePath(w host.Worker) string {
	if w.Workspace == nil {
		return ""
	}
	return w.Workspace.Path
}
