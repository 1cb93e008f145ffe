package inbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

func newSend(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var stdin bool
	cmd := &cobra.Command{
		Use:   "send TO MESSAGE | TO --stdin",
		Short: "Send a message to a member, or to all",
		Long: `Send a message to a member of the team: the id or name of an agent, "leader", or
"all" for every member but the sender. The message is in the inbox when the call
returns; the receiver does not have to run. If swarm knows the receiver's screen, it
types a line that something is waiting, once the agent is at its prompt.`,
		Example: `  swarm inbox send alice "task-3 first, please" --team web
  swarm inbox send leader "task-3 is done"
  swarm inbox send alice "no hurry" --team web --no-wake
  git diff | swarm inbox send all --stdin`,
		Args: func(_ *cobra.Command, args []string) error {
			switch want := map[bool]int{true: 1, false: 2}[stdin]; {
			case len(args) == 0:
				return output.Usagef("missing argument: the receiver")
			case len(args) < want:
				return output.Usagef("missing argument: the message, or --stdin")
			case len(args) > want && stdin:
				return output.Usagef("a message and --stdin exclude each other")
			case len(args) > want:
				return output.Usagef("unexpected argument '%s'; a message of several words needs quotes", args[want])
			}
			return nil
		},
		ValidArgsFunction: member.CompleteAgent(a, f, "leader", "all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			output.FinishWriting()
			in := tool.SendMessageInput{To: args[0]}
			if stdin {
				text, err := app.ReadInput(cmd.Context(), cmd.InOrStdin(), true)
				if err != nil {
					return err
				}
				in.Message = string(text)
			} else {
				in.Message = args[1]
			}
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				in.TeamName = team
				out, err := tool.SendMessage.Do(cmd.Context(), env, in)
				return member.Answer(a, f.JSON, out, nil, err, func() {
					a.Printf("sent to %s\n", in.To)
					if out.ID == "" {
						a.Hint("the team has no other member")
					}
				})
			})
		},
	}
	f.AddTo(cmd, a)
	f.AddWaking(cmd)
	cmd.Flags().BoolVar(&stdin, "stdin", false, "send what is on stdin, without one newline at its end")
	return cmd
}

const sentLimit = 50

func newSent(a *app.App) *cobra.Command {
	f := &member.Flags{}
	cmd := &cobra.Command{
		Use:   "sent [flags]",
		Short: "List the messages that you sent, and whether they arrived",
		Long: `List the last 50 messages that the caller sent, the oldest first, each with its
progress: stored, delivered, read. A message is delivered by a "nudge", a line typed at
the receiver's prompt which says that something is waiting; by a "hook" of the
receiver's client; or when it is "read". "unproven" means that a line was typed, or may
have been, and the screen does not show that the agent took it: it is not typed again.`,
		Example: `  swarm inbox sent --team web
  swarm inbox sent --json | jq -r '.[] | select(.read == null) | .to'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				h, err := env.Open(cmd.Context())
				if err != nil {
					return err
				}
				messages, err := agent.Sent(cmd.Context(), h, team, sentLimit)
				if err = errors.Join(err, h.Close()); err != nil {
					return err
				}
				if f.JSON {
					return a.PrintJSON(sentMessages(messages))
				}
				nameOf := member.Names(cmd.Context(), env, team)
				var rows [][]string
				for _, m := range messages {
					text, _, _ := strings.Cut(messageText(tool.Message{Type: string(m.Type), Message: m.Body}), "\n")
					rows = append(rows, []string{fmt.Sprint(m.ID), nameOf(m.Recipient), humane.Age(time.Since(m.Time)), receiptText(m), text})
				}
				a.PrintTable([]string{"ID", "TO", "AGE", "RECEIPT", "MESSAGE"}, rows)
				return nil
			})
		},
	}
	f.AddTo(cmd, a)
	return cmd
}

func receiptText(m registry.Message) string {
	switch {
	case m.How == "":
		return "stored"
	case m.How == registry.DeliveredRead, !m.Read.IsZero():
		return "read"
	default:
		return string(m.How)
	}
}

// jsonSent is a message that was sent. Times that are not known are null.
type jsonSent struct {
	ID      string  `json:"id"`
	To      string  `json:"to"`
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Stored  *string `json:"stored"`
	How     *string `json:"how"`
	Brought *string `json:"brought"`
	Read    *string `json:"read"`
}

func sentMessages(messages []registry.Message) []jsonSent {
	return output.List(messages, func(m registry.Message) jsonSent {
		return jsonSent{
			ID: fmt.Sprint(m.ID), To: m.Recipient, Type: string(m.Type), Message: m.Body, Stored: output.TimeJSON(m.Time),
			How: output.OrNull(string(m.How)), Brought: output.TimeJSON(m.Delivered), Read: output.TimeJSON(m.Read),
		}
	})
}
