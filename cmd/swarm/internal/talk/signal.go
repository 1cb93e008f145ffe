package talk

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/shared/swarm"
)

type signalOptions struct {
	mode *command.ChoiceFlag
	json bool
}

func NewSignal(a *app.App) *cobra.Command {
	o := &signalOptions{}
	cmd := &cobra.Command{
		Use:   "signal NAME SIGNAL",
		Short: "Send a worker a signal",
		Long: `Send a worker a signal that is not meant to end it, such as USR1, and return at
once. The kill mode of the worker or --mode decides whether all its processes get the
signal or only the main one. A worker that ends because of it counts as one that ended
by itself, and its restart policy applies; use 'swarm kill' to end a worker for good.

A signal is a name, with or without SIG, a number, or a real-time signal such as RTMIN+3.`,
		Example: `  swarm signal server HUP --mode main
  swarm signal build STOP
  swarm signal build CONT`,
		Args: command.Arguments(2, 2, "name of a worker and a signal"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return swarm.Signals(), cobra.ShellCompDirectiveNoFileComp
			}
			return a.CompleteOneWorker(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := swarm.ParseSignal(args[1])
			if err != nil {
				return output.Usagef("%s", setup.Message(err))
			}
			return runSignal(cmd.Context(), a, args[0], name, o)
		},
	}
	o.mode = command.Choice(cmd, "mode", "which processes get it (default: the worker's kill mode)", "", "tree", "main")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

type signalJSON struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Signal string `json:"signal"`
	Mode   string `json:"mode"`
}

func runSignal(ctx context.Context, a *app.App, name, signal string, o *signalOptions) error {
	request := input.SignalRequest{Signal: signal}
	if mode, ok := command.KillMode(o.mode.Value); ok {
		request.Mode = &mode
	}
	return a.WithHost(ctx, func(h *host.Host) error {
		w, err := h.Input().Signal(ctx, name, request)
		if err != nil {
			return err
		}
		if o.json {
			mode := output.ValueOr(request.Mode, w.Kill.Mode)
			return a.PrintJSON(signalJSON{Name: w.Name, ID: w.ID, Signal: signal, Mode: mode.String()})
		}
		a.Printf("signalled %s (%s)\n", w.Name, signal)
		return nil
	})
}
