package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host"
)

func newComplete(a *app) *cobra.Command {
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
				return &usageError{
					text: "unexpected argument '" + args[1] + "'",
					hint: `the summary is one argument: swarm complete "SUMMARY"`,
				}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			request := host.CompleteRequest{Warn: func(w host.Warning) { a.warn(w.Text, w.Hint) }}
			if len(args) > 0 {
				request.Summary = args[0]
			}
			return a.complete(cmd.Context(), request, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the worker as JSON")
	return cmd
}

func (a *app) complete(ctx context.Context, request host.CompleteRequest, asJSON bool) error {
	finishWriting()
	return a.withHost(ctx, func(h *host.Host) error {
		w, err := h.Complete(ctx, request)
		if errors.Is(err, host.ErrOutside) {
			return &hintError{err, "'swarm complete' is for the command that a worker runs; from outside use 'swarm kill'"}
		}
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(a.workerJSON(w))
		}
		a.printf("completed %s\n", w.Name)
		return nil
	})
}
