package sets

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/declared"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/set"
)

func NewDown(a *app.App) *cobra.Command {
	o := &workers.KillOptions{}
	var remove bool
	cmd := &cobra.Command{
		Use:   "down [NAME...]",
		Short: "End the workers that swarm.toml declares",
		Long: `End the workers that the project's swarm.toml declares: all of them, or the named
ones and those that depend on them. A worker is ended once the workers that depend on
it have ended; independent workers are ended at the same time. Each is ended as
"swarm kill" does it, by the policy that it was started with.

Workers that do not run are not touched, nor are workers of the same name that
another project started. If a worker can't be ended, the workers that it depends on
keep running, and the exit code is 1.

A worker that this file declared once and declares no more is not ended, but named,
whichever names are given; --remove-orphans ends such workers first, and cleans them.`,
		Example: `  swarm down
  swarm down db
  swarm down --rm-worktree`,
		ValidArgsFunction: declared.CompleteDeclared(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runDown(cmd.Context(), a, args, o, remove) },
	}
	cmd.Flags().BoolVar(&remove, "remove-orphans", false, "first end and clean workers that the file declares no more")
	o.AddEnding(cmd, "how long each may take to end, in place of its own grace")
	return cmd
}

func runDown(ctx context.Context, a *app.App, names []string, o *workers.KillOptions, remove bool) error {
	output.FinishWriting()
	d, err := declared.LoadDeclared(ctx, a)
	if none, ok := errors.AsType[*declared.NoneError](err); ok {
		return onlyOrphans(ctx, a, none.Project, remove, false, err)
	}
	if err != nil {
		return err
	}
	if _, err := d.Set.Dependencies(names); err != nil {
		return d.Explain(err)
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		left := orphans{App: a, project: d.Set.Project()}
		if left.all, err = d.Set.Orphans(ctx, h); err != nil {
			return err
		}
		if remove {
			left.remove(ctx, h, false, o.JSON)
		} else {
			left.name()
		}
		k, request := workers.NewKiller(a, o)
		if printed := request.Answer; o.JSON {
			request.Answer = func(outcomes []kill.Outcome) { printed(slices.Concat(left.kills, outcomes)) }
		}
		_, err := d.Set.Down(ctx, h, set.DownRequest{
			Names: names,
			Kill:  request,
			Idle: func(name string) {
				if !o.JSON {
					k.Progress.Aside(func() { a.Printf("%s is not running\n", name) })
				}
			},
		})
		return cmp.Or(k.Result(d.Explain(err)), left.result())
	})
}
