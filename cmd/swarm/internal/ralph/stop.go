package ralph

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
)

func newStop(a *app.App) *cobra.Command {
	o := &workers.KillOptions{}
	cmd := &cobra.Command{
		Use:   "stop NAME",
		Short: "End the worker of a loop",
		Long: `End the worker of a loop, as 'swarm kill' does: the agent, everything it started and
the loop itself. No iteration begins afterwards. 'swarm ralph resume' repeats the
iteration that was killed, unless --rm-worktree removed the loop with its worktree.`,
		Example: `  swarm ralph stop agent
  swarm ralph stop agent --rm-worktree`,
		Args:              command.Arguments(1, 1, "name of a ralph worker"),
		ValidArgsFunction: completeOneRalph(a),
		RunE:              func(cmd *cobra.Command, args []string) error { return runStop(cmd.Context(), a, args[0], o) },
	}
	f := cmd.Flags()
	f.Var(&o.Timeout, "timeout", "how long it may take to end, in place of its own grace")
	f.BoolVar(&o.RmWorktree, "rm-worktree", false, "remove its git worktree and its loop afterwards")
	f.BoolVar(&o.ForceDirty, "force-dirty", false, "remove a worktree with uncommitted changes too, after saving them")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return cmd
}

func runStop(ctx context.Context, a *app.App, name string, o *workers.KillOptions) error {
	err := a.WithHost(ctx, func(h *host.Host) error {
		_, err := ralphWorker(ctx, a, h, name)
		return err
	})
	if err != nil {
		return err
	}
	return workers.RunKill(ctx, a, host.Selection{Names: []string{name}}, o)
}
