package talk

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewAttach(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "attach NAME",
		Short: "Attach this terminal to a worker",
		Long: `Attach this terminal to the terminal of a worker, and to no other one. The last line
says how to leave: inside tmux the client switches to the worker (C-b L brings you
back), otherwise tmux runs here (C-b d brings you back). The worker continues either
way. When it ends, you are back where you were.

With --json this terminal is not attached: the program that would run is printed.`,
		Example: `  swarm attach agent
  swarm attach agent --json | jq -r '.command | join(" ")'`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAttach(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the program that connects, as JSON, and do not run it")
	return cmd
}

type attachJSON struct {
	Command []string `json:"command"`
	Unset   []string `json:"unset"`
}

func runAttach(ctx context.Context, a *app.App, name string, asJSON bool) error {
	var to swarm.Attachment
	err := a.WithHost(ctx, func(h *host.Host) (err error) {
		to, err = h.Input().Attach(ctx, name)
		// The program that replaces this process does not know its children.
		return errors.Join(err, h.Close())
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(attachJSON{Command: to.Command, Unset: append([]string{}, to.Unset...)})
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return fmt.Errorf("cannot attach to '%s': stdin is not a terminal", name)
	}
	return a.Become(to)
}
