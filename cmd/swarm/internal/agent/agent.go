package agent

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
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
