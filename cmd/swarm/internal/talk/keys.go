package talk

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewKeys(a *app.App) *cobra.Command {
	var asJSON bool
	var digest string
	cmd := &cobra.Command{
		Use:   "keys NAME KEY...",
		Short: "Press keys of a worker's terminal",
		Long: `Press keys of a worker's terminal one by one, each after the program has read the
previous one. If a name is unknown, no key is pressed. One call presses at most 64 keys.

The names are those of tmux, in upper or lower case: Enter, Escape, Tab, BTab, Space,
BSpace, Up, Down, Left, Right, Home, End, PageUp, PageDown, Insert, Delete, F1 to F12,
or the character that the key types; with C-, M- and S- before it for Ctrl, Alt and
Shift. A worker can't press its own keys. See 'swarm answer' for the dialogs of agents.
With --digest, the keys are pressed only at the dialog that 'swarm status --json' has
shown (state.dialog.digest).`,
		Example: `  swarm keys agent Escape
  swarm keys agent Down Down Enter
  swarm keys shell C-c`,
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return output.Usagef("missing arguments: name of a worker and keys, such as Enter")
			}
			for _, key := range args[1:] {
				if key == "" || strings.Contains(key, " ") {
					return output.WithHint(output.Usagef("'%s' is not a key; each key is an argument of its own", key),
						"the space bar is called Space; 'swarm send' types text")
				}
			}
			if len(args) > swarm.MaxKeys+1 {
				return fmt.Errorf("cannot press %d keys at once, at most %d", len(args)-1, swarm.MaxKeys)
			}
			ctx, req := cmd.Context(), input.KeysRequest{Keys: strings.Join(args[1:], " "), Digest: digest}
			return reportSent(ctx, a, worker.Selection{Names: args[:1]}, "pressed keys of %s", asJSON, func(h *host.Host, sel worker.Selection) ([]input.Outcome, error) {
				outcomes, err := h.Input().Press(ctx, sel, req)
				for i := range outcomes {
					outcomes[i].Confirmed = true // there is nothing to confirm
				}
				return outcomes, err
			})
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "press the keys only at the dialog with this digest")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return output.WithHint(command.FlagError(cmd, err), "put -- before a key that begins with '-': swarm keys NAME -- -")
	})
	return cmd
}

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
		RunE: o.On(func(ctx context.Context, sel worker.Selection) error {
			return give(ctx, a, sel, swarm.Input{Kind: swarm.InputInterrupt}, "interrupted %s", o.json)
		}),
	}
	o.AddTo(cmd, a)
	cmd.Flags().BoolVar(&o.json, "json", false, "print the results as JSON")
	return cmd
}

func NewEOF(a *app.App) *cobra.Command {
	var asJSON bool
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
			in := swarm.Input{Kind: swarm.InputEOF}
			return give(cmd.Context(), a, worker.Selection{Names: args}, in, "sent eof to %s", asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}
