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
				if err = errors.Join(err, h.Leave()); err != nil {
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
	case m.How == registry.BroughtRead, !m.Read.IsZero():
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
	list := make([]jsonSent, len(messages))
	for i, m := range messages {
		list[i] = jsonSent{
			ID: fmt.Sprint(m.ID), To: m.Recipient, Type: string(m.Type), Message: m.Body, Stored: output.TimeJSON(m.Time),
			How: output.OrNull(string(m.How)), Brought: output.TimeJSON(m.Brought), Read: output.TimeJSON(m.Read),
		}
	}
	return list
}
