package main

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/shared/swarm"
)

type interruptOptions struct {
	selection
	json bool
}

func newInterrupt(a *app) *cobra.Command {
	o := &interruptOptions{}
	cmd := &cobra.Command{
		Use:   "interrupt NAME... | --all | --tag TAG",
		Short: "Interrupt what workers are doing",
		Long: `Press the interrupt key (Ctrl-C) of workers that are on a terminal; others get
SIGINT. It asks a program to stop what it does; a worker that ends of it has ended
by itself. Use 'swarm kill' to end one for good.

With --all and --tag, workers that do not run are passed over.`,
		Example: `  swarm interrupt agent
  swarm interrupt --tag builder`,
		ValidArgsFunction: a.completeWorkers,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.of(cmd, args)
			if err != nil {
				return err
			}
			return a.give(cmd.Context(), sel, swarm.Input{Kind: swarm.InputInterrupt}, "interrupted %s", o.json)
		},
	}
	o.addTo(cmd, a)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}
