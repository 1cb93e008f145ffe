package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// SpawnTeamInput is the input of [SpawnTeam].
type SpawnTeamInput = agent.CreateRequest

// SpawnTeamOutput is the new team.
type SpawnTeamOutput struct {
	outcome
	TeamName string `json:"teamName" jsonschema:"Name of the team"`
	agent.Created
	failure
}

// SpawnTeam creates a team whose leader is the caller.
var SpawnTeam = &definition[SpawnTeamInput, SpawnTeamOutput]{
	tool: Tool{
		Name:        "spawn-team",
		Title:       "Create a team",
		Set:         Teams,
		Leader:      true,
		Description: `Create a team of agents, with the caller as its leader.`,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in SpawnTeamInput) (out SpawnTeamOutput, err error) {
		if in.Dir, err = env.dir(""); err != nil && in.Server != nil {
			return out, err
		}
		out.TeamName = in.TeamName
		out.Created, err = agent.CreateTeam(ctx, h, in)
		return out, err
	},
	failed: func(in SpawnTeamInput) SpawnTeamOutput { return SpawnTeamOutput{TeamName: in.TeamName} },
}
