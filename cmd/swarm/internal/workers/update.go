package workers

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type updateOptions struct {
	command.Selection
	limits command.Limits
	json   bool
}

func NewUpdate(a *app.App) *cobra.Command {
	o := &updateOptions{}
	cmd := &cobra.Command{
		Use:   "update NAME... | --all | --tag TAG",
		Short: "Change the limits of workers",
		Long: `Change what running workers may use. Limits that are not named stay; none ends one. The
new limits hold when the call returns, and also after a restart and a respawn.

Less memory than a worker holds is refused, if it can't give enough back: no process is
killed by a new limit. A worker that was spawned without any limit has no control group, so
it can only get another priority; respawn it with limits instead.

With --all and --tag, workers that do not run are skipped.`,
		Example: `  swarm update tests --memory 4g
  swarm update tests --cpus 0.5 --pids none
  swarm update --tag batch --nice 19`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.Of(cmd, args)
			if err != nil {
				return err
			}
			if !o.limits.Given() {
				return output.Usagef("must specify --memory, --cpus, --pids, --nice or --io-weight")
			}
			return tellBounds(cmd.Context(), a, sel, "updated %s", o.json, func(ctx context.Context, h *host.Host, sel host.Selection) ([]host.BoundsOutcome, error) {
				return h.SetLimits(ctx, sel, func(l *swarm.Limits) { o.limits.Apply(l) })
			})
		},
	}
	o.AddTo(cmd, a)
	o.limits.AddTo(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}
