package inbox

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/tool"
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
