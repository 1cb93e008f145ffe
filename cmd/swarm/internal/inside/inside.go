package inside

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/notifier"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/host/worker"
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
		Args:              command.OneText(0, "", `the summary is one argument: swarm complete "SUMMARY"`),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			request := host.CompleteRequest{Warn: func(w worker.Warning) { a.Warn(w.Text, w.Hint) }}
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
		if errors.Is(err, worker.ErrOutside) {
			return output.WithHint(err, "'swarm complete' is for the command that a worker runs; from outside use 'swarm kill'")
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

func NewHeartbeat(a *app.App) *cobra.Command {
	f := &member.Flags{}
	cmd := &cobra.Command{
		Use:   "heartbeat [flags]",
		Short: "Report from inside an agent that it is alive",
		Long: `Report that the calling agent is alive, and what it is doing. Any other call of the
agent that changes something, and output to its terminal, count as well: only an
agent that is silent for long needs this.

An agent that gives no sign of life for two minutes becomes inactive and the leader
gets a message, unless the agent has reported --status idle. The next sign of life
makes it active again.`,
		Example: `  swarm heartbeat
  swarm heartbeat --status idle && swarm inbox wait`,
		Args: command.Arguments(0, 0, ""),
	}
	f.AddTo(cmd, a)
	status := command.Choice(cmd, "status", "what the agent is doing (default: as before)", "", string(registry.AgentActive), string(registry.AgentIdle))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		output.FinishWriting()
		return member.AsMember(cmd.Context(), a, f, func(env tool.Env, name string) error {
			in := tool.HeartbeatInput{TeamName: name, Status: registry.AgentStatus(status.Value)}
			out, err := tool.Heartbeat.Do(cmd.Context(), env, in)
			return member.Answer(a, f.JSON, out, nil, err, func() {
				left := out.NextDeadline.Sub(out.HeartbeatTS.Time)
				a.Printf("%s; next heartbeat due in %s\n", out.AgentStatus, config.FormatDuration(left.Round(time.Second)))
			})
		})
	}
	return cmd
}

func NewNotifier(a *app.App) *cobra.Command {
	return &cobra.Command{
		Hidden: true, // calls that send something leave it behind
		Use:    notifier.Verb + " ID",
		Short:  "Wait until an agent can be notified of what is waiting for it",
		Long: `Wait until the agent of a worker is at its prompt, and type one line there that says
what is waiting for it: messages, tasks, a shutdown request. Calls that send one leave
such a process behind. It ends when nothing is waiting any more, with the worker, or
after ten minutes; there is one for each worker at most.`,
		Example:           `  swarm notifier 1m7z0xwyhn2yfekg`,
		Args:              command.Arguments(1, 1, "id of a worker"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			output.FinishWriting()
			return a.WithHost(cmd.Context(), func(h *host.Host) error { return h.Notifier().Run(cmd.Context(), args[0]) })
		},
	}
}
