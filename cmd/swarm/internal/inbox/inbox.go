package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "inbox",
		Short: "Send and read the messages of a team",
		Long: `Send and read the messages of a team. Each member has an inbox; a message is unread
until a caller reads it there, and kept after that. No message is lost. If several
callers read one inbox at the same time, only one of them gets each message as new.

A message wakes an idle coding agent: one line is typed at its prompt, which says that
something is waiting. "swarm inbox sent" shows whether a message arrived.

A person reads and writes as the leader, as do the processes of the leader's worker.`,
		Example: `  swarm inbox send alice "task-3 first, please" --team web
  swarm inbox send all "main is green again" --team web
  swarm inbox read
  swarm inbox wait --timeout 5m
  swarm inbox sent --team web`,
	}, newSend(a), newRead(a), newWait(a), newSent(a))
}

// The types of a message that is a step of a shutdown.
const (
	messageShutdown = string(registry.MessageShutdownRequest)
	messageAnswered = string(registry.MessageShutdownApproved)
)

type shutdownBody struct {
	Reason         string                 `json:"reason"`
	Phase          registry.ShutdownPhase `json:"phase"`
	Approved       bool                   `json:"approved"`
	ResponseReason string                 `json:"responseReason"`
}

func printMessages(a *app.App, out tool.ReadMessagesOutput, nameOf func(id string) string) {
	now := time.Now()
	if len(out.Messages) == 0 {
		a.Hint("no unread messages")
	}
	for _, m := range out.Messages {
		old := ""
		if m.Read {
			old = ", read before"
		}
		a.Printf("%s %s (%s ago%s)\n", m.ID, nameOf(m.From), humane.Age(now.Sub(m.Timestamp.Time)), old)
		a.Printf("%s", output.Indented(messageText(m)))
	}
	if out.Remaining > 0 {
		a.Hint(fmt.Sprintf("%d more: run it again", out.Remaining))
	}
}

// messageText returns the text of a message for people; the content of a shutdown message
// is JSON.
func messageText(m tool.Message) string {
	var body shutdownBody
	if m.Type != messageShutdown && m.Type != messageAnswered || json.Unmarshal([]byte(m.Message), &body) != nil {
		return m.Message
	}
	switch {
	case m.Type == messageShutdown:
		return member.WithReason("asks you to shut down", body.Reason) + "\nanswer with 'swarm shutdown approve' or 'swarm shutdown reject REASON'"
	case !body.Approved:
		return member.WithReason("rejected the shutdown", body.ResponseReason)
	case body.Phase == registry.ShutdownConfirmed:
		return member.WithReason("approved the shutdown and has ended", body.ResponseReason)
	default:
		return member.WithReason("approved the shutdown and continues until it is ready", body.ResponseReason)
	}
}

func newRead(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var all bool
	cmd := &cobra.Command{
		Use:   "read [flags]",
		Short: "Print new messages",
		Long: `Print the unread messages in the caller's inbox, the oldest first, and mark them as
read. One call prints at most 500 messages or 1 MiB, and says if there are more.

With --all, messages that were read before are printed too: the newest ones, if there
are too many.`,
		Example: `  swarm inbox read
  swarm inbox read --team web --all
  swarm inbox read --json | jq -r '.messages[].message'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			output.FinishWriting()
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				out, err := tool.ReadMessages.Do(cmd.Context(), env, tool.ReadMessagesInput{TeamName: team, UnreadOnly: !all})
				return member.Answer(a, f.JSON, out, nil, err, func() { printMessages(a, out, member.Names(cmd.Context(), env, team)) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&all, "all", false, "print messages that were read before, too")
	return cmd
}

func newWait(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var timeout *time.Duration
	cmd := &cobra.Command{
		Use:   "wait [flags]",
		Short: "Wait for a message, and print it",
		Long: `Wait until the caller's inbox has an unread message, then print the messages as "swarm
inbox read" does. If there is one already, the call returns at once. Nothing is polled.

Exit code: 0, or 124 if the time has run out.`,
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
	cmd.Flags().Var(command.Duration(&timeout), "timeout", "how long to wait at most")
	return cmd
}

// awaitMessages reads the caller's messages as soon as there are some. Others may
// read the same inbox.
func awaitMessages(ctx context.Context, a *app.App, env tool.Env, team string, timeout *time.Duration) (out tool.ReadMessagesOutput, err error) {
	out.Messages = []tool.Message{}
	defer func() {
		if err != nil {
			out.Success, out.Error = false, setup.Message(err)
		}
	}()
	waiting, cancel := command.Limit(ctx, timeout)
	defer cancel()
	h, err := env.Open(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	for len(out.Messages) == 0 {
		if err := agent.AwaitMessage(waiting, h, team); err != nil {
			return out, cmp.Or(command.Over(waiting, err), err)
		}
		if out, err = tool.ReadMessages.Do(ctx, env, tool.ReadMessagesInput{TeamName: team, UnreadOnly: true}); err != nil {
			return out, err
		}
	}
	return out, nil
}
