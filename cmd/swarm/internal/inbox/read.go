package inbox

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
)

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
				out, err := tool.ReadMessages(cmd.Context(), env, tool.ReadMessagesInput{TeamName: team, UnreadOnly: !all})
				return member.Answer(a, f.JSON, out, nil, err, func() { printMessages(a, out, member.Names(cmd.Context(), env, team)) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&all, "all", false, "print messages that were read before, too")
	return cmd
}
