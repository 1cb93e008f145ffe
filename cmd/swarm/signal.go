package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type signalOptions struct {
	mode *choiceFlag
	json bool
}

func newSignal(a *app) *cobra.Command {
	o := &signalOptions{}
	cmd := &cobra.Command{
		Use:   "signal NAME SIGNAL",
		Short: "Send a worker a signal",
		Long: `Send a worker a signal that is not meant to end it, such as USR1, and return at
once. The kill mode of the worker or --mode decides whether all its processes get the
signal or only the main one. A worker that ends because of it counts as one that ended
by itself, and its restart policy applies; use 'swarm kill' to end a worker for good.`,
		Example: `  swarm signal server HUP --mode main
  swarm signal build STOP
  swarm signal build CONT`,
		Args: arguments(2, 2, "name of a worker and a signal"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return swarm.Signals(), cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeOneWorker(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := swarm.ParseSignal(args[1])
			if err != nil {
				return usagef("%s", setup.Message(err))
			}
			return a.signal(cmd.Context(), args[0], name, o)
		},
	}
	o.mode = choice(cmd, "mode", "which processes get it (default: the worker's kill mode)", "", "tree", "main")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

// signalJSON is what was sent to whom.
type signalJSON struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Signal string `json:"signal"`
	Mode   string `json:"mode"`
}

func (a *app) signal(ctx context.Context, name, signal string, o *signalOptions) error {
	request := host.SignalRequest{Signal: signal}
	if mode, ok := killMode(o.mode.value); ok {
		request.Mode = &mode
	}
	return a.withHost(ctx, func(h *host.Host) error {
		w, err := h.Signal(ctx, name, request)
		if err != nil {
			return err
		}
		if o.json {
			mode := w.Kill.Mode
			if request.Mode != nil {
				mode = *request.Mode
			}
			return a.printJSON(signalJSON{Name: w.Name, ID: w.ID, Signal: signal, Mode: mode.String()})
		}
		a.printf("signalled %s (%s)\n", w.Name, signal)
		return nil
	})
}
