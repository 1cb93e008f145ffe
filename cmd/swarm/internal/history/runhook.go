package history

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/hooks"
)

// NewRunHook returns the verb that runs the command of one hook for one event.
func NewRunHook(a *app.App) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // a watch starts it
		Use:    hooks.Verb,
		Short:  "Run the command of a hook",
		Long: `Run a command that 'swarm watch --hooks' or '--notify' describes on the standard input,
and print how it ended, both as JSON. The command is ended when its time has run out, even if
the watch is gone.`,
		Example:           `  swarm run-hook < call.json`,
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			output.FinishWriting()
			return hooks.Supervise(cmd.Context(), os.Stdin, a.Out)
		},
	}
}
