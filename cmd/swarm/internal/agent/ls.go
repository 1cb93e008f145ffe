package agent

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/host/tool"
)

func newLs(a *app.App) *cobra.Command {
	f := &member.Flags{}
	var in tool.GetAgentStatusInput
	cmd := &cobra.Command{
		Use:     "ls [flags]",
		Aliases: []string{"list"},
		Short:   "List the agents of a team",
		Long: `List the agents of a team, the oldest first. Their status is checked now; nothing is
changed. With --json it prints the same as "swarm agent status".`,
		Example: `  swarm agent ls --team web
  swarm agent ls --team web --json | jq -r '.agents[].name'`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return member.AsMember(cmd.Context(), a, f, func(env tool.Env, team string) error {
				in.TeamName = team
				out, err := tool.GetAgentStatus(cmd.Context(), env, in)
				return member.Answer(a, f.JSON, out, out.Warnings, err, func() { member.PrintAgents(a, out.Agents) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&in.IncludeTerminated, "terminated", false, "list terminated agents too")
	return cmd
}
