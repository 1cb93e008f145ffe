package workers

import (
	"context"
	"maps"
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
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

type lsOptions struct {
	format, status, sort         *command.ChoiceFlag
	json, quiet, wide, noHeaders bool
	stats                        bool
	tag                          string
	columns                      []lsColumn
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

On a terminal, STATE says how each worker is: running 2h, restarting in 4s, exited 3,
killed, crash loop, lost; for agents what their screens show: working, idle, blocked.
"running 2s ↻4" was restarted four times.
'swarm status' shows the question of a blocked agent. Lines are cut to the width of the
terminal; --wide shows more columns and cuts nothing. --stats and --wide measure what the
workers use, which takes 0.2 s.

CHANGES compares each worktree with its beginning, as 'swarm diff' does: +12 −3 lines. ↑2 ↓1
(>2 <1 without Unicode) means two commits ahead of the repository's main working tree and
one behind it. Worktrees that take longer than 0.3 s (2 s with --wide or --columns) have a ?.

In a pipe, and with --format table, the columns are NAME, STATUS, PID/WINDOW, STARTED,
WORKTREE and TAG, and STATE if there are agents. --columns, --stats and --wide choose
others.`,
		Example: `  swarm ls
  swarm ls --sort state --columns name,state,command
  swarm ls --stats --sort mem
  swarm ls --status running --tag login
  swarm ls -q | xargs swarm wait
  swarm ls --json | jq -r '.[] | select(.exit != null and .exit.code != 0) | .name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return runLs(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	o.format = command.Choice(cmd, "format", "format of the list", "", "table", "json", "names")
	o.status = command.Choice(cmd, "status", "only workers with this status", "all",
		"all", "starting", "pending", "running", "stopped", "lost", "unknown")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print names alone; the same as --format names")
	f.StringVar(&o.tag, "tag", "", "only workers with this `TAG`")
	f.BoolVarP(&o.wide, "wide", "w", false, "show all columns, and cut none")
	f.BoolVar(&o.stats, "stats", false, "add what each worker uses: CPU and MEM, as 'swarm stats' shows it")
	f.Var(command.Parsed(&o.columns, "columns", parseColumns), "columns", "`NAMES` of the columns to show, with commas between:\n"+strings.Join(columnNames(), ", "))
	o.sort = command.Choice(cmd, "sort", "order of the list: by name; the most urgent state, the\nnewest start, the largest figure first (default: as spawned)", "",
		slices.Sorted(maps.Keys(orders()))...)
	f.BoolVar(&o.noHeaders, "no-headers", false, "leave out the line of headers")
	command.CompleteList(cmd, "columns", columnNames()...)
	return cmd
}

func (o *lsOptions) check(cmd *cobra.Command) error {
	formats := 0
	for _, name := range []string{"format", "json", "quiet"} {
		if cmd.Flags().Changed(name) {
			formats++
		}
	}
	switch {
	case o.json:
		o.format.Value = "json"
	case o.quiet:
		o.format.Value = "names"
	}
	switch {
	case formats > 1:
		return output.Usagef("--format, --json and --quiet exclude each other")
	case o.columns != nil && (o.wide || o.stats):
		return output.Usagef("--columns and --wide or --stats exclude each other")
	case o.format.Value != "" && o.chosen():
		return output.Usagef("--wide, --stats and --columns are for the table for people: leave out --format, --json and --quiet")
	}
	return nil
}

// chosen reports whether columns of the table for people were asked for.
func (o *lsOptions) chosen() bool { return o.wide || o.stats || o.columns != nil }

func (o *lsOptions) shown() []lsColumn {
	if o.columns != nil {
		return o.columns
	}
	return slices.DeleteFunc(allColumns(), func(c lsColumn) bool {
		return !o.wide && !slices.Contains(lsDefault, c.name) && (!o.stats || !c.measured)
	})
}

func (o *lsOptions) measures() bool {
	return o.sort.Value == "cpu" || o.sort.Value == "mem" ||
		o.chosen() && slices.ContainsFunc(o.shown(), func(c lsColumn) bool { return c.measured })
}

// How long ls compares worktrees for a column that was asked for, and for one that was not.
const (
	compareLimit = 2 * time.Second
	glanceLimit  = 300 * time.Millisecond
)

// compareLimit returns how long worktrees may be compared, or 0 if no column shows it.
func (o *lsOptions) compareLimit(a *app.App) time.Duration {
	switch {
	case !o.forPeople(a) || !slices.ContainsFunc(o.shown(), func(c lsColumn) bool { return c.name == "changes" }):
		return 0
	case o.asksForChanges():
		return compareLimit
	default:
		return glanceLimit
	}
}

// asksForChanges reports whether the user wants the changes of worktrees, if any column shows
// them: most tables have that column only if there is something in it.
func (o *lsOptions) asksForChanges() bool { return o.wide || o.columns != nil }

func (o *lsOptions) forPeople(a *app.App) bool {
	return o.format.Value == "" && (o.chosen() || a.OutWidth() > 0 || a.Colours())
}

func measure(ctx context.Context, h *host.Host, o *lsOptions, rows []lsRow) error {
	figures, _, err := h.Meter().Once(ctx, worker.Selection{All: o.tag == "", Tag: o.tag})
	if err != nil {
		return err
	}
	for i, r := range rows {
		for _, f := range figures {
			if f.Worker.ID == r.ID {
				rows[i].figures = f
			}
		}
	}
	return nil
}

func runLs(ctx context.Context, a *app.App, o *lsOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		workers, warnings, err := h.Workers(ctx, worker.Selection{All: o.tag == "", Tag: o.tag, States: o.format.Value != "names" || o.sort.Value == "state"})
		if err != nil {
			return err
		}
		a.WarnAll(warnings)
		if o.status.Value != "all" {
			workers = slices.DeleteFunc(workers, func(w worker.Worker) bool { return string(w.Status) != o.status.Value })
		}
		rows := make([]lsRow, len(workers))
		now := time.Now()
		for i, w := range workers {
			rows[i] = lsRow{Worker: w, Condition: condition.Of(w), now: now, plain: a.Plain(), terminal: a.OutWidth() > 0, glance: !o.asksForChanges()}
		}
		if len(rows) > 0 && o.measures() {
			if err := measure(ctx, h, o, rows); err != nil {
				return err
			}
		}
		if limit := o.compareLimit(a); limit > 0 {
			changes := h.Workspaces().Changes(ctx, workers, limit)
			for i, r := range rows {
				if c, ok := changes[r.ID]; ok {
					rows[i].changes = &c
				}
			}
		}
		if order := orders()[o.sort.Value]; order != nil {
			slices.SortStableFunc(rows, order)
			for i, r := range rows {
				workers[i] = r.Worker
			}
		}
		switch {
		case o.format.Value == "json":
			return a.PrintJSON(view.WorkersJSONIn(a, workers))
		case o.format.Value == "names":
			for _, w := range workers {
				a.Printf("%s\n", w.Name)
			}
		case len(rows) == 0 && a.OutWidth() > 0:
			hintAtFirst(a, o)
		case o.forPeople(a):
			printWorkers(a, o, rows)
		default:
			header, cells := fixedTable(workers, now)
			if o.noHeaders {
				header = nil
			}
			a.PrintTable(header, cells)
		}
		return nil
	})
}

func hintAtFirst(a *app.App, o *lsOptions) {
	if o.tag != "" || o.status.Value != "all" {
		a.Hint("no worker matches; 'swarm ls' lists all")
		return
	}
	a.Hint("no workers; start one with 'swarm spawn --name NAME -- COMMAND'")
}

func printWorkers(a *app.App, o *lsOptions, rows []lsRow) {
	t := lsTable(rows, o.shown())
	t.Colours, t.Plain, t.NoHeader = a.Colours(), a.Plain(), o.noHeaders
	if !o.wide {
		t.Width = a.OutWidth()
	}
	a.PrintFitted(t)
}

// fixedTable is the table for programs. Its columns are always the same, but for the states
// of agents, if there are any.
func fixedTable(workers []worker.Worker, now time.Time) (header []string, rows [][]string) {
	header = []string{"NAME", "STATUS", "PID/WINDOW", "STARTED", "WORKTREE", "TAG"}
	if slices.ContainsFunc(workers, func(w worker.Worker) bool { return w.State != nil }) {
		header = append(header, "STATE")
	}
	return header, output.List(workers, func(w worker.Worker) []string {
		var worktree, state string
		if w.Workspace != nil {
			worktree = w.Workspace.Location()
		}
		if w.State != nil {
			state = string(w.State.State)
		}
		row := []string{
			w.Name, string(w.Status), pidOrWindow(w), startedAgo(w, now),
			worktree, strings.Join(w.Tags, ","), state,
		}
		return output.List(row[:len(header)], output.OrDash)
	})
}

// pidOrWindow returns the location of a living worker; the pid of an ended one may belong
// to another process by now.
func pidOrWindow(w worker.Worker) string {
	switch {
	case w.Gone():
		return ""
	case w.Where.Name != "":
		return w.Where.Name
	case w.Status == worker.StatusRunning && view.MissingPlace(w) != "":
		return "(" + view.MissingPlace(w) + ")"
	case w.PID != 0:
		return strconv.Itoa(w.PID)
	case w.BetweenStarts():
		return "restarting"
	default:
		return ""
	}
}

// PrintFirstSteps prints the first commands for a person who has no workers yet. It reports
// whether it did.
func PrintFirstSteps(ctx context.Context, a *app.App) bool {
	dir, err := a.StateDir()
	if err != nil || a.OutWidth() == 0 {
		return false
	}
	if names, err := store.Names(ctx, dir); err != nil || len(names) > 0 {
		return false
	}
	faint := func(text string) output.Made {
		if a.Colours() {
			text = output.Faint.Paint(text)
		}
		return output.Made(text)
	}
	a.Printf("swarm keeps commands running after the terminal is gone, and ends them for good.\n\n")
	a.Printf("You have no workers yet. The first three commands:\n\n")
	for _, step := range [][2]string{
		{"swarm spawn --name clock -- sh -c 'while date; do sleep 1; done'", "start a worker"},
		{"swarm logs clock --follow", "see what it writes (Ctrl-C leaves it running)"},
		{"swarm kill clock", "end it, and everything that it has started"},
	} {
		a.Printf("  %s\n      %s\n", step[0], faint(step[1]))
	}
	a.Printf("\n'swarm --help' shows all commands.\n")
	return true
}
