package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
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

// look runs view in one transaction that only reads, as the caller.
func look(ctx context.Context, h *host.Host, teamName string, view func(context.Context, *registry.Tx, team.Caller) error) error {
	caller, err := h.Caller(ctx)
	if err != nil {
		return err
	}
	err = h.View(ctx, func(ctx context.Context, tx *registry.Tx) error { return view(ctx, tx, caller) })
	if errors.Is(err, fs.ErrNotExist) {
		return &team.NoTeamError{Team: teamName}
	}
	return err
}

// change runs a change by a member of a team in one transaction. It first records what has
// happened to the team's agents: an agent whose process is gone has no tasks. A caller that
// is not a member is refused before anything is written.
func change(ctx context.Context, h *host.Host, teamName string, do func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) error) error {
	var caller team.Caller
	err := look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, c team.Caller) error {
		caller = c
		_, err := team.Member(ctx, tx, c, teamName)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := h.SweepTeam(ctx, teamName, caller.WorkerID); err != nil {
		return err
	}
	return h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return do(ctx, tx, caller, time.Now())
	})
}
