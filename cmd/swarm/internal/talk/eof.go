package talk

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

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
