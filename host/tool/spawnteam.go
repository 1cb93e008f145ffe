package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// SpawnTeamInput is the input of [SpawnTeam].
type SpawnTeamInput struct {
	TeamName    string   `json:"teamName" jsonschema:"Name of the team: letters, digits, hyphens and underscores" schema:"min=1"`
	Description string   `json:"description,omitempty" jsonschema:"What the team is for"`
	Server      []string `json:"server,omitempty" jsonschema:"Command that all agents share, such as an OpenCode server; {port} in it is replaced by a free port" schema:"min=1"`
}

// SpawnTeamOutput is the new team.
type SpawnTeamOutput struct {
	outcome
	TeamName string   `json:"teamName" jsonschema:"The team that was asked for"`
	Leader   string   `json:"leader" jsonschema:"Member ID of the leader, which is the caller"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"What went wrong without making it fail"`
	Error    string   `json:"error,omitempty" jsonschema:"Why there is no new team"`
}

// SpawnTeam creates a team whose leader is the caller.
var SpawnTeam = &definition[SpawnTeamInput, SpawnTeamOutput]{
	tool: Tool{
		Name:        "spawn-team",
		Title:       "Make a team",
		Set:         Teams,
		Leader:      true,
		Description: `Create a team of agents, with the caller as its leader. Only the leader can spawn and kill its agents.`,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in SpawnTeamInput) (SpawnTeamOutput, error) {
		dir, err := env.dir("")
		if err != nil && in.Server != nil {
			return SpawnTeamOutput{}, err
		}
		created, err := agent.CreateTeam(ctx, h, agent.CreateRequest{
			Name: in.TeamName, Description: in.Description, Server: in.Server, Dir: dir,
		})
		if err != nil {
			return SpawnTeamOutput{}, err
		}
		return SpawnTeamOutput{
			outcome:  outcome{true},
			TeamName: in.TeamName,
			Leader:   created.Leader,
			Warnings: created.Warnings,
		}, nil
	},
	failed: func(in SpawnTeamInput, text string) SpawnTeamOutput {
		return SpawnTeamOutput{TeamName: in.TeamName, Error: text}
	},
}
