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
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewAttach(a *app.App) *cobra.Command {
	var asJSON, readOnly bool
	cmd := &cobra.Command{
		Use:   "attach NAME",
		Short: "Attach this terminal to a worker",
		Long: `Attach this terminal to the terminal of a worker, and to no other one. The last line
says how to leave: inside tmux the client switches to the worker (C-b L brings you
back), otherwise tmux runs here (C-b d brings you back). The worker continues either
way. When it ends, you are back where you were.

With --read-only the worker is shown and gets no input.

With --json this terminal is not attached: the program that would run is printed.`,
		Example: `  swarm attach agent
  swarm attach agent --read-only
  swarm attach agent --json | jq -r '.command | join(" ")'`,
		Args:              command.Arguments(1, 1, "name of a worker"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAttach(cmd.Context(), a, args[0], readOnly, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&readOnly, "read-only", "r", false, "show the worker and give it no input")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the program that connects, as JSON, and do not run it")
	return cmd
}

type attachJSON struct {
	Command []string `json:"command"`
	Env     []string `json:"env"`
	Unset   []string `json:"unset"`
	// Leave is how to leave the worker, or empty.
	Leave    string `json:"leave"`
	ReadOnly bool   `json:"read_only"`
}

func runAttach(ctx context.Context, a *app.App, name string, readOnly, asJSON bool) error {
	var to swarm.Attachment
	err := a.WithHost(ctx, func(h *host.Host) (err error) {
		to, err = h.Input().Attach(ctx, name, readOnly)
		// The program that replaces this process does not know its children.
		return errors.Join(err, h.Close())
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(attachJSON{
			Command: to.Command, Env: append([]string{}, to.Env...), Unset: append([]string{}, to.Unset...),
			Leave: to.Leave, ReadOnly: to.ReadOnly,
		})
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return fmt.Errorf("cannot attach to '%s': stdin is not a terminal", name)
	}
	if to.Leave != "" {
		_, _ = fmt.Fprintf(a.Err, "swarm: %s\n", safetext.Line(to.Leave))
	}
	return a.Become(swarm.Program{Command: to.Command, Env: to.Env, Unset: to.Unset})
}
