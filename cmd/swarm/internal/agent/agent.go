package agent

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/member"
	"github.com/swarmhost/swarm/host/tool"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "agent",
		Short: "Start, show and end the agents of a team",
		Long: `Start, show and end the agents of a team. An agent is a worker that belongs to a
team and has an id, a name, a role and a colour there. It finds its team in
$SWARM_TEAM. Its calls are made in its name: swarm knows it by the token in its
environment, or by the worker that the call comes from.

Only the leader starts and ends agents: a person, the worker that created the team, or
an agent with the role leader. "swarm kill" obeys the same rule for the workers of
agents; "logs", "attach" and the like work on them as on any other worker.`,
		Example: `  swarm agent spawn --team web --name alice --prompt "claim a task" -- claude "{prompt}"
  swarm agent status --team web
  swarm agent kill alice --team web --reason "we are done" --wait
  swarm agent kill alice --team web --force`,
	}, newSpawn(a), newStatus(a), newLs(a), newKill(a), newProfiles(a))
}

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
				out, err := tool.GetAgentStatus.Do(cmd.Context(), env, in)
				return member.Answer(a, f.JSON, out, out.Warnings, err, func() { member.PrintAgents(a, out.Agents) })
			})
		},
	}
	f.AddTo(cmd, a)
	cmd.Flags().BoolVar(&in.IncludeTerminated, "terminated", false, "list terminated agents too")
	return cmd
}
