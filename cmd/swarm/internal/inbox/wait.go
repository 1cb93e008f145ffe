package inbox

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
)

func newWait(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var timeout command.DurationFlag
	cmd := &cobra.Command{
		Use:   "wait [flags]",
		Short: "Wait for a message, and print it",
		Long: `Wait until the caller's inbox has an unread message, then print the messages as "swarm
inbox read" does. If there is one already, the call returns at once. Nothing is polled.

Exit code: 0, or 124 if the time is over.`,
		Example: `  swarm inbox wait
  swarm inbox wait --team web --timeout 10m --json`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			output.FinishWriting()
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				out, err := awaitMessages(cmd.Context(), a, env, team, timeout)
				return member.Answer(a, f.JSON, out, nil, err, func() { printMessages(a, out, member.Names(cmd.Context(), env, team)) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().Var(&timeout, "timeout", "how long to wait at most")
	return cmd
}

// awaitMessages reads the caller's messages as soon as there are some. Others may
// read the same inbox.
func awaitMessages(ctx context.Context, a *app.App, env tool.Env, team string, timeout command.DurationFlag) (out tool.ReadMessagesOutput, err error) {
	out.Messages = []tool.Message{}
	defer func() {
		if err != nil {
			out.Success, out.Error = false, setup.Message(err)
		}
	}()
	waiting, cancel := timeout.Limit(ctx)
	defer cancel()
	h, err := env.Open(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, h.Leave()) }()
	for len(out.Messages) == 0 {
		if err := agent.AwaitMessage(waiting, h, team); err != nil {
			return out, cmp.Or(timeout.Over(waiting, err), err)
		}
		if out, err = tool.ReadMessages.Do(ctx, env, tool.ReadMessagesInput{TeamName: team, UnreadOnly: true}); err != nil {
			return out, err
		}
	}
	return out, nil
}
