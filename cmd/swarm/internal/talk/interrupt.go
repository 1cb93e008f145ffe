package talk

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

type interruptOptions struct {
	command.Selection
	json bool
}

func NewInterrupt(a *app.App) *cobra.Command {
	o := &interruptOptions{}
	cmd := &cobra.Command{
		Use:   "interrupt NAME... | --all | --tag TAG",
		Short: "Interrupt workers",
		Long: `Press the interrupt key (Ctrl-C) of workers that run on a terminal; others get
SIGINT. This asks a program to stop its current work. A worker that ends because of
it counts as one that ended by itself. Use 'swarm kill' to end a worker for good.

With --all and --tag, workers that do not run are skipped.`,
		Example: `  swarm interrupt agent
  swarm interrupt --tag builder`,
		ValidArgsFunction: a.CompleteWorkers,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.Of(cmd, args)
			if err != nil {
				return err
			}
			return give(cmd.Context(), a, sel, swarm.Input{Kind: swarm.InputInterrupt}, "interrupted %s", o.json)
		},
	}
	o.AddTo(cmd, a)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

type eofOptions struct{ json bool }

func NewEOF(a *app.App) *cobra.Command {
	o := &eofOptions{}
	cmd := &cobra.Command{
		Use:   "eof NAME",
		Short: "End the input of a worker",
		Long: `Press the end-of-file key (Ctrl-D) of a worker that runs on a terminal. For a worker
that was spawned with --stdin, close its standard input: it gets nothing more.`,
		Example: `  swarm spawn --name sum --stdin -- sha256sum
  swarm send sum --stdin < file
  swarm eof sum`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel := host.Selection{Names: args}
			return give(cmd.Context(), a, sel, swarm.Input{Kind: swarm.InputEOF}, "sent eof to %s", o.json)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}
