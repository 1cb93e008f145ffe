package history

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/watch"
)

type watchOptions struct{ timestamps, json bool }

func NewWatch(a *app.App) *cobra.Command {
	o := &watchOptions{}
	cmd := &cobra.Command{
		Use:   "watch [flags]",
		Short: "Follow the history, and record ends as they happen",
		Long: `Print the events of workers from now on, whatever causes them, as "swarm events" does,
and keep the history up to date meanwhile: the end of a worker is recorded when it
happens; a worker whose retention time is over is removed; a worker whose owner has
ended is killed if its backend does not do that. The screens of agents that have a
profile are read every few seconds: IDLE, WORKING, BLOCKED with its question.

It runs until it is interrupted. Nothing is lost then, even by kill -9: events that
happen while no command watches are recorded later, with their true time. Any number
of watchers may run at once.

Exit code: 130 after Ctrl-C, as for every command that is interrupted.`,
		Example: `  swarm watch
  swarm watch --json | jq -r 'select(.final) | .worker'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return runWatch(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVarP(&o.timestamps, "timestamps", "t", false, "begin each line with the time of the event")
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line")
	return cmd
}

func runWatch(ctx context.Context, a *app.App, o *watchOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		return h.Watch(ctx, watch.Request{
			Ready: func() {
				if a.ErrWidth() > 0 {
					a.Hint("watching for events (Ctrl-C to stop)")
				}
			},
			Event: eventPrinter{App: a, timestamps: o.timestamps, json: o.json}.print,
			Warn:  func(text string) { a.Warn(text, "") },
		})
	})
}
