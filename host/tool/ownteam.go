package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/swarmhost/swarm/host/agent"
)

// teamField is the field that names the team in the inputs of all tools of teams.
const teamField = "teamName"

// lacksOnlyTeam reports whether an input is right but for the team, which it does not
// name.
func lacksOnlyTeam(err error) bool {
	wrong, ok := errors.AsType[*InputError](err)
	return ok && len(wrong.Problems) == 1 && wrong.Problems[0] == Problem{Path: teamField, Text: isRequired}
}

// ownTeam returns the team of the caller, empty if it can't be told: the input is
// wrong then.
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

// withTeam adds the team to an input, which is an object or nothing.
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
