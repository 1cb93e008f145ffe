package talk

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewResize(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "resize NAME COLUMNSxROWS",
		Short: "Set the size of a worker's terminal",
		Long: `Set the size of the terminal of a running worker, as if a person had resized its window. When
the call returns, the terminal has the size. Programs that fill their terminal draw themselves anew.
The size stays until a person attaches to the worker with a terminal of another size.`,
		Example: `  swarm resize agent 120x40`,
		Args:    command.Arguments(2, 2, "name of a worker and a size"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return []string{"80x24", "120x40"}, cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteOneWorker(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			columns, rows, err := parseSize(args[1])
			if err != nil {
				return err
			}
			return runResize(cmd.Context(), a, args[0], columns, rows, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func parseSize(text string) (columns, rows int, err error) {
	before, after, _ := strings.Cut(text, "x")
	columns, err = strconv.Atoi(before)
	if err == nil {
		rows, err = strconv.Atoi(after)
	}
	if err != nil {
		return 0, 0, output.Usagef("invalid size '%s': expected COLUMNSxROWS, such as 120x40", text)
	}
	if err := swarm.CheckSize(columns, rows); err != nil {
		return 0, 0, output.Usagef("%s", setup.Message(err))
	}
	return columns, rows, nil
}

type resizeJSON struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Columns int    `json:"columns"`
	Rows    int    `json:"rows"`
}

func runResize(ctx context.Context, a *app.App, name string, columns, rows int, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		w, err := h.Input().Resize(ctx, name, columns, rows)
		if err != nil {
			return err
		}
		if asJSON {
			return a.PrintJSON(resizeJSON{Name: w.Name, ID: w.ID, Columns: columns, Rows: rows})
		}
		a.Printf("resized %s (%dx%d)\n", w.Name, columns, rows)
		return nil
	})
}
