package main

import (
	"github.com/spf13/cobra"
)

func newAgent(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "agent",
		Short: "Start the agents of a team, see how they are, end them",
		Long: `Start the agents of a team, see how they are, and end them. An agent is a worker
with a place in a team: an id, a name, a role, a colour. It finds its team in
$SWARM_TEAM, and what it calls is done in its name, by the token in its environment
or else by the worker that the call comes from.

Only the leader starts and ends agents: a person, the worker that made the team, or
an agent of role leader. "swarm kill" obeys the same rule for the workers of agents;
"logs", "attach" and the like work on them as on any other.`,
		Example: `  swarm agent spawn --team web --name alice --prompt "claim a task" -- claude "{prompt}"
  swarm agent status --team web
  swarm agent kill alice --team web --reason "we are done" --wait
  swarm agent kill alice --team web --force`,
	}, newAgentSpawn(a), newAgentStatus(a), newAgentLs(a), newAgentKill(a), newAgentProfiles(a))
}

// The roles that an agent can have.
var agentRoles = []string{"worker", "reviewer", "leader"}
