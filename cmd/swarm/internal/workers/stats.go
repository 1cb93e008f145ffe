package workers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

const statsEvery = time.Second

type statsOptions struct {
	command.Selection
	follow, json bool
}

func NewStats(a *app.App) *cobra.Command {
	o := &statsOptions{}
	cmd := &cobra.Command{
		Use:   "stats [NAME... | --all | --tag TAG]",
		Short: "Show what workers use",
		Long: `Show the CPU time, memory, processes and storage that workers use, each with all of its
processes: children in other sessions, orphans, and those that have ended. Without
names, and with --all and --tag, show the running workers. A worker that has ended is
shown by its name, with what it used in all. Nothing is changed.

  CPU          share of one CPU just now; 200% is two CPUs
  MEM          memory now; shared pages count in parts where the system knows
  PEAK         at least this much memory was held at one time
  READ         read from storage, not from caches, pipes or sockets
  WRITTEN      written to storage
  TIME         CPU time since the spawn, restarts included

A figure that a backend can't know is "-", in JSON null. With --json, one name gives
an object; anything else gives an array. docs/stats.schema.json describes the objects.`,
		Example: `  swarm stats
  swarm stats build
  swarm stats --tag login --json | jq -r 'max_by(.memory) | .name'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel := worker.Selection{All: true}
			if len(args) > 0 || o.All || cmd.Flags().Changed("tag") {
				var err error
				if sel, err = o.Of(cmd, args); err != nil {
					return err
				}
			}
			return runStats(cmd.Context(), a, sel, o)
		},
	}
	o.AddTo(cmd, a)
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "measure again every second until interrupted")
	f.BoolVar(&o.json, "json", false, "print JSON; with --follow one object a line for each worker and measurement")
	return cmd
}

func runStats(ctx context.Context, a *app.App, sel worker.Selection, o *statsOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		if o.follow {
			return followStats(ctx, a, h, sel, o)
		}
		figures, warnings, err := h.Meter().Once(ctx, sel)
		a.WarnAll(warnings)
		if err != nil {
			return err
		}
		figures = withFigures(figures, sel)
		if !o.json {
			printStats(a, figures)
		}
		list := output.List(figures, view.StatsJSONOf)
		return a.Conclude(o.json, output.OneOrList(list, len(sel.Names) == 1), warnUnmeasured(a, figures))
	})
}

// withFigures leaves out workers that do not run, unless they were named.
func withFigures(figures []stats.Figures, sel worker.Selection) []stats.Figures {
	if sel.Names != nil {
		return figures
	}
	return slices.DeleteFunc(figures, func(f stats.Figures) bool { return f.Stats == nil && f.Err == nil })
}

func printStats(a *app.App, figures []stats.Figures) {
	if len(figures) == 0 {
		a.Hint("no worker runs; 'swarm ls' lists those that have ended")
		return
	}
	a.PrintFitted(statsTable(a, figures))
}

// warnUnmeasured says which running workers could not be measured, and reports whether
// there are any. A backend that can't measure has not failed.
func warnUnmeasured(a *app.App, figures []stats.Figures) bool {
	failed := false
	for _, f := range figures {
		if f.Err != nil && !errors.Is(f.Err, swarm.ErrUnsupported) {
			a.Fail(fmt.Errorf("cannot measure '%s': %w", f.Worker.Name, f.Err))
			failed = true
		}
	}
	return failed
}

// statsHeaders are the headers of what [statsTexts] returns.
var statsHeaders = []string{"CPU", "MEM", "PEAK", "PROCS", "THREADS", "READ", "WRITTEN", "TIME"}

// statsTable makes the table. It fits a terminal, and is complete when piped.
func statsTable(a *app.App, figures []stats.Figures) output.Table {
	t := output.Table{Width: a.OutWidth(), Colours: a.Colours(), Plain: a.Plain()}
	t.Columns = append([]output.Column{column("NAME", 8)}, output.List(statsHeaders, rightColumn)...)
	for _, f := range figures {
		row := []output.Cell{output.Text(f.Worker.Name, output.Normal)}
		for _, text := range statsTexts(f) {
			style := output.Normal
			if text == stats.None {
				style = output.Faint
			}
			row = append(row, output.Text(text, style))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func statsTexts(f stats.Figures) []string {
	var now swarm.Stats
	if f.Stats != nil {
		now = *f.Stats
	}
	used := f.Usage()
	return []string{
		stats.Share(f.CPU), stats.Size(now.Memory), stats.Size(used.Peak), stats.Count(now.Processes), stats.Count(now.Threads),
		stats.Size(used.Read), stats.Size(used.Written), stats.CPUTime(used.CPUTime),
	}
}

// followStats measures until it is interrupted. On a terminal each table takes the place
// of the one before.
func followStats(ctx context.Context, a *app.App, h *host.Host, sel worker.Selection, o *statsOptions) error {
	meter := h.Meter()
	look, warn := meter.Once, a.WarnAll
	tick := time.NewTicker(statsEvery)
	defer tick.Stop()
	drawn := 0
	for {
		figures, warnings, err := look(ctx, sel)
		warn(warnings)
		if err != nil {
			return err
		}
		figures = withFigures(figures, sel)
		// The same warnings every second would be in the way of the table.
		look, warn = meter.Look, func([]string) {}
		switch {
		case o.json:
			for _, f := range figures {
				if err := a.PrintJSONLine(view.StatsJSONOf(f)); err != nil {
					return err
				}
			}
		case a.OutWidth() > 0:
			drawn = redraw(a, statsTable(a, figures).Lines(), drawn)
		default:
			a.PrintFitted(statsTable(a, figures))
			a.Printf("\n")
		}
		if a.Out.Err != nil {
			return a.Out.Err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// redraw writes lines in the place of those that were drawn before, as many as fit the
// terminal, and returns their number.
func redraw(a *app.App, lines []string, drawn int) int {
	if len(lines) == 0 {
		lines = []string{"no worker runs"}
	}
	if most := heightOf(a) - 1; most > 1 && len(lines) > most {
		more := fmt.Sprintf("and %d more", len(lines)-most+1)
		lines = append(lines[:most-1:most-1], more)
	}
	var text strings.Builder
	if drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\r\x1b[J", drawn)
	}
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	a.Printf("%s", output.Made(text.String()))
	return len(lines)
}

// heightOf returns the height of the terminal, 0 if it is not known.
func heightOf(a *app.App) int {
	f, ok := a.Out.W.(*os.File)
	if !ok {
		return 0
	}
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return height
}
