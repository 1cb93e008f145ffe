package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// teamField is the field that names the team in the inputs of all tools of teams.
const teamField = "teamName"

// lacksOnlyTeam reports whether an input is valid except for the missing team.
func lacksOnlyTeam(err error) bool {
	wrong, ok := errors.AsType[*InputError](err)
	return ok && len(wrong.Problems) == 1 && wrong.Problems[0] == Problem{Path: teamField, Text: isRequired}
}

// ownTeam returns the team of the caller, empty if it has none or several: the input is
// invalid then.
func ownTeam(ctx context.Context, env Env) string {
	h, err := env.Open(ctx)
	if err != nil {
		return ""
	}
	team, err := agent.CallerTeam(ctx, h)
	if errors.Join(err, h.Close()) != nil {
		return ""
	}
	return team
}

func withTeam(raw json.RawMessage, team string) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return raw
	}
	name, err := json.Marshal(team)
	if err != nil {
		return raw
	}
	fields[teamField] = name
	data, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return data
}

// change runs a change by a member of a team in one transaction. It first records what has
// happened to the team's agents: an agent whose process is gone has no tasks. A caller that
// is not a member is refused before anything is written.
func change[T any](ctx context.Context, h *host.Host, teamName string,
	do func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) (T, error),
) (result T, err error) {
	caller, err := agent.Look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, c team.Caller) (team.Caller, error) {
		_, err := team.Member(ctx, tx, c, teamName)
		return c, err
	})
	if err != nil {
		return result, err
	}
	if _, err := h.Sweeper().Sweep(ctx, teamName, caller.WorkerID); err != nil {
		return result, err
	}
	err = h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		result, err = do(ctx, tx, caller, time.Now())
		return err
	})
	return result, err
}

type SpawnTeamInput = agent.CreateRequest

type SpawnTeamOutput struct {
	outcome
	TeamName string `json:"teamName" jsonschema:"Name of the team"`
	agent.Created
	failure
}

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
