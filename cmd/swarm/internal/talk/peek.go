package talk

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
)

type peekOptions struct {
	command.Selection
	lines *int
	json  bool
}

func NewPeek(a *app.App) *cobra.Command {
	o := &peekOptions{}
	cmd := &cobra.Command{
		Use:   "peek NAME... | --all | --tag TAG",
		Short: "Show the screens of workers",
		Long: `Print the screen of a worker's terminal as plain text; for a worker that has ended, its
last screen. For a worker without a terminal, print the end of its output. With several
workers, each has a heading; --all and --tag select running workers.
'swarm logs' prints all of the output, as it was written.

With --json, one name gives an object; anything else gives an array. A running worker on a
terminal then has "columns", "rows" and "cursor": its "column" and "row" count from 0.`,
		Example: `  swarm peek agent
  swarm peek agent -n 5
  swarm peek --all -n 3
  swarm peek agent --json | jq -r '.lines[-1]'`,
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error { return runPeek(ctx, a, sel, o) }),
	}
	o.AddTo(cmd, a)
	f := cmd.Flags()
	f.VarP(command.Count(&o.lines, 1), "lines", "n", "print the last `N` lines (default: the visible screen, or 30 lines of output)")
	f.BoolVar(&o.json, "json", false, "print the screens as JSON")
	return cmd
}

type peekJSON struct {
	Name   string   `json:"name"`
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Screen bool     `json:"screen"`
	Taken  bool     `json:"taken"`
	Lines  []string `json:"lines"`
	// Columns and Rows are 0, and Cursor is nil, if they are not known.
	Columns int         `json:"columns,omitempty"`
	Rows    int         `json:"rows,omitempty"`
	Cursor  *cursorJSON `json:"cursor,omitempty"`
}

type cursorJSON struct {
	Column  int  `json:"column"`
	Row     int  `json:"row"`
	Visible bool `json:"visible"`
}

func runPeek(ctx context.Context, a *app.App, sel worker.Selection, o *peekOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		names, err := a.NamesOrRunning(ctx, h, sel)
		if err != nil {
			return err
		}
		one := len(sel.Names) == 1
		seen, failed := []peekJSON{}, false
		for i, name := range names {
			p, err := h.Display().Peek(ctx, name, output.ValueOr(o.lines, 0))
			switch {
			case err != nil && one:
				return err
			case err != nil:
				failed = true
				a.Fail(err)
			case o.json:
				seen = append(seen, peekJSONOf(p))
			default:
				if !one {
					heading(a, i, p.Worker.Name)
				}
				for _, line := range p.Lines {
					a.Printf("%s\n", output.Made(safetext.Block(line)))
				}
			}
		}
		return a.Conclude(o.json, output.OneOrList(seen, one), failed)
	})
}

func peekJSONOf(p display.Peek) peekJSON {
	j := peekJSON{
		Name: p.Worker.Name, ID: p.Worker.ID, Status: string(p.Worker.Status),
		Screen: p.Screen, Taken: p.Taken, Lines: append([]string{}, p.Lines...),
		Columns: p.Columns, Rows: p.Rows,
	}
	if p.Cursor != nil {
		j.Cursor = new(cursorJSON(*p.Cursor))
	}
	return j
}

// heading prints a name above the lines of one of several workers, as tail(1) does for files.
func heading(a *app.App, i int, name string) {
	if i > 0 {
		a.Printf("\n")
	}
	a.Printf("==> %s <==\n", name)
}
