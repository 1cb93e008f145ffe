package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
)

type peekOptions struct {
	lines countFlag
	json  bool
}

func newPeek(a *app) *cobra.Command {
	o := &peekOptions{}
	cmd := &cobra.Command{
		Use:   "peek NAME",
		Short: "Show the screen of a worker",
		Long: `Print what the terminal of a worker shows, as plain text; of a worker that has
ended, what it showed last. One that is on no terminal shows the end of its output.
'swarm logs' prints all of the output, as it was written.`,
		Example: `  swarm peek agent
  swarm peek agent -n 5
  swarm peek agent --json | jq -r '.lines[-1]'`,
		Args:              arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.completeOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			lines := 0
			if o.lines.n != nil {
				if lines = *o.lines.n; lines == 0 {
					return usagef("invalid value '0' for --lines: expected a number from 1")
				}
			}
			return a.peek(cmd.Context(), args[0], lines, o)
		},
	}
	f := cmd.Flags()
	f.VarP(&o.lines, "lines", "n", "print the last `N` lines (default: the visible screen, or 30 lines of output)")
	f.BoolVar(&o.json, "json", false, "print what there is to see as JSON")
	return cmd
}

// peekJSON is what there was to see.
type peekJSON struct {
	Name   string   `json:"name"`
	ID     string   `json:"id"`
	Status string   `json:"status"`
	Screen bool     `json:"screen"`
	Taken  bool     `json:"taken"`
	Lines  []string `json:"lines"`
}

func (a *app) peek(ctx context.Context, name string, lines int, o *peekOptions) error {
	return a.withHost(ctx, func(h *host.Host) error {
		p, err := h.Peek(ctx, name, lines)
		if err != nil {
			return err
		}
		if o.json {
			return a.printJSON(peekJSON{
				Name: p.Worker.Name, ID: p.Worker.ID, Status: string(p.Worker.Status),
				Screen: p.Screen, Taken: p.Taken, Lines: append([]string{}, p.Lines...),
			})
		}
		for _, line := range p.Lines {
			a.printf("%s\n", line)
		}
		return nil
	})
}
