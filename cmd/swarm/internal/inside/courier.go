package inside

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
)

func NewCourier(a *app.App) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // calls that send something leave it behind
		Use:    host.CourierVerb + " ID",
		Short:  "Wait until an agent can be told what is waiting for it",
		Long: `Wait until the agent of a worker is at its prompt, and type one line there that tells
what is waiting for it: messages, tasks, a shutdown request. Calls that send one leave
such a process behind. It ends when nothing is waiting any more, with the worker, or
after ten minutes; there is one for each worker at most.`,
		Example:           `  swarm courier 1m7z0xwyhn2yfekg`,
		Args:              command.Arguments(1, 1, "id of a worker"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			output.FinishWriting()
			return a.WithHost(cmd.Context(), func(h *host.Host) error { return h.Courier(cmd.Context(), args[0]) })
		},
	}
}
