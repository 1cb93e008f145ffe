package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// begin identifies the caller, and records what has happened to the agents of the team
// since the last call. If the team does not exist, it changes nothing and returns
// [team.NoTeamError].
func begin(ctx context.Context, h *host.Host, teamName string) (team.Caller, []string, error) {
	caller, err := h.Caller(ctx)
	if err != nil {
		return caller, nil, err
	}
	err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) error {
		_, err := team.Get(ctx, tx, teamName)
		return err
	})
	if err != nil {
		return caller, nil, err
	}
	warnings, err := h.SweepTeam(ctx, teamName, caller.WorkerID)
	return caller, warnings, err
}

// view is [host.Host.View] for queries about one team. Without a registry the team does not
// exist.
func view(ctx context.Context, h *host.Host, teamName string, f func(context.Context, *registry.Tx) error) error {
	err := h.View(ctx, f)
	if errors.Is(err, fs.ErrNotExist) {
		return &team.NoTeamError{Team: teamName}
	}
	return err
}

// idle stops the server of a team if its last agent has gone. That it can't be is a
// warning.
func idle(ctx context.Context, h *host.Host, teamName string, warnings []string) []string {
	if err := h.StopIdleServers(ctx, teamName); err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings
}
