package workers

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
)

type showOptions struct {
	lines, events *int
	json          bool
}

func NewShow(a *app.App) *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show NAME...",
		Short: "Show everything about workers",
		Long: `Show a page about each worker: how it is, its command, directory and place, its policies,
what it uses, its processes, its worktree, its files, its last events and the last lines
that it wrote. Everything is looked up now, and nothing is changed. Of the environment
only the names are shown. Facts that a backend does not know are left out.

'swarm status' prints one line and has exit codes for scripts. With --json, one name
gives an object; several names give an array. docs/show.schema.json describes the
objects.`,
		Example: `  swarm show build
  swarm show build agent --lines 30
  swarm show build --json | jq -r .run_dir`,
		Args:              command.Arguments(1, -1, "name of a worker"),
		ValidArgsFunction: a.CompleteWorkers,
		RunE:              func(cmd *cobra.Command, args []string) error { return runShow(cmd.Context(), a, args, o) },
	}
	f := cmd.Flags()
	f.VarP(command.Count(&o.lines, 0), "lines", "n", "show the last `N` lines of its output (default: 10)")
	f.Var(command.Count(&o.events, 0), "events", "show the last `N` events (default: 5)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// The defaults of show.
const (
	showLines  = 10
	showEvents = 5
)

func runShow(ctx context.Context, a *app.App, names []string, o *showOptions) error {
	req := host.DetailsRequest{
		Events: output.ValueOr(o.events, showEvents), Lines: output.ValueOr(o.lines, showLines),
	}
	look := view.Look{Width: a.OutWidth(), Colours: a.Colours(), Plain: a.Plain()}
	one := len(names) == 1
	return a.WithHost(ctx, func(h *host.Host) error {
		shown, failed := []view.ShowJSON{}, false
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				continue
			}
			d, warnings, err := h.Details(ctx, name, req)
			a.WarnAll(warnings)
			switch {
			case err != nil && one:
				return err
			case err != nil:
				failed = true
				a.Fail(err)
			case o.json:
				shown = append(shown, view.ShowJSONIn(a, d))
			default:
				if i > 0 {
					a.Printf("\n")
				}
				for _, line := range view.Page(look, d, time.Now()) {
					a.Printf("%s\n", output.Made(strings.TrimRight(line, " ")))
				}
			}
		}
		return a.Conclude(o.json, output.OneOrList(shown, one), failed)
	})
}
