package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/set"
)

type downOptions struct {
	timeout    durationFlag
	rmWorktree bool
	forceDirty bool
	json       bool
}

func newDown(a *app) *cobra.Command {
	o := &downOptions{}
	cmd := &cobra.Command{
		Use:   "down [NAME...]",
		Short: "End the workers that swarm.toml declares",
		Long: `End the workers that the project's swarm.toml declares: all of them, or the named
ones and those that depend on them. A worker is ended once the workers that depend on
it have ended; independent workers are ended at the same time. Each is ended as
"swarm kill" does it, by the policy that it was started with.

Workers that do not run are not touched, nor are workers of the same name that
another project started. If a worker can't be ended, the workers that it depends on
keep running, and the exit code is 1.`,
		Example: `  swarm down
  swarm down db
  swarm down --rm-worktree`,
		ValidArgsFunction: a.completeDeclared(),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.down(cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.Var(&o.timeout, "timeout", "how long each may take to end, in place of its own grace")
	f.BoolVar(&o.rmWorktree, "rm-worktree", false, "remove their git worktrees afterwards")
	f.BoolVar(&o.forceDirty, "force-dirty", false, "remove worktrees with uncommitted changes too, after saving them")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func (a *app) down(ctx context.Context, names []string, o *downOptions) error {
	finishWriting()
	d, err := a.loadDeclared(ctx)
	if err != nil {
		return err
	}
	return a.withHost(ctx, func(h *host.Host) error {
		k := killer{app: a, json: o.json, progress: newProgress(a.err, a.errWidth)}
		_, err := d.set.Down(ctx, h, set.DownRequest{
			Names: names,
			Kill: host.KillRequest{
				Grace:           o.timeout.d,
				RemoveWorkspace: o.rmWorktree,
				ForceDirty:      o.forceDirty,
				Progress:        k.progress.event,
				Done:            k.done,
				Warn:            k.warning,
				Answer:          k.answer,
			},
			Idle: func(name string) {
				if !o.json {
					k.progress.aside(func() { a.printf("%s is not running\n", name) })
				}
			},
		})
		return k.result(d.explain(err))
	})
}
