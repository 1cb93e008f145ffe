package inside

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
)

func NewComplete(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "complete [SUMMARY]",
		Short: "Report from inside a worker that its work is done",
		Long: `Report that the worker in which this call runs has done its work. SUMMARY, one line,
is kept in the history for good; line breaks become blanks, and text beyond 1024
bytes is cut. The exit that follows changes nothing about it, however it comes.

The worker may now end by itself. Processes that still run after its grace (5
seconds, unless it was spawned with another) are killed as "swarm kill" does it, and
the worker is not started again. The first end wins: a worker that is being killed,
or has completed, can't complete any more.`,
		Example: `  swarm complete "all tests pass, see branch fix/login"
  swarm spawn --name job --rm -- sh -c 'make release && swarm complete released'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &output.UsageError{
					Text: "unexpected argument '" + args[1] + "'",
					Hint: `the summary is one argument: swarm complete "SUMMARY"`,
				}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			request := host.CompleteRequest{Warn: func(w host.Warning) { a.Warn(w.Text, w.Hint) }}
			if len(args) > 0 {
				request.Summary = args[0]
			}
			return runComplete(cmd.Context(), a, request, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the worker as JSON")
	return cmd
}

func runComplete(ctx context.Context, a *app.App, request host.CompleteRequest, asJSON bool) error {
	output.FinishWriting()
	return a.WithHost(ctx, func(h *host.Host) error {
		w, err := h.Complete(ctx, request)
		if errors.Is(err, host.ErrOutside) {
			return &output.HintError{Err: err, Hint: "'swarm complete' is for the command that a worker runs; from outside use 'swarm kill'"}
		}
		if err != nil {
			return err
		}
		if asJSON {
			return a.PrintJSON(view.WorkerJSONIn(a, w))
		}
		a.Printf("completed %s\n", w.Name)
		return nil
	})
}
