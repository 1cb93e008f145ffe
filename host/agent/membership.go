package agent

import (
	"context"
	"errors"
	"io/fs"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// Membership is the identity of the caller with its membership in teams.
type Membership struct {
	team.Caller
	// Worker is the name of the worker in which the caller runs; empty if there is none, or
	// if the registry does not know it.
	Worker string
	// Leads are the teams that the caller leads from inside that worker.
	Leads []string
}

// Team returns the team of a call that names no team: the calling agent's own team, or
// the only team that the caller leads from inside a worker. It returns "" for a person,
// and for a caller that leads several teams or no team.
func (s Membership) Team() string {
	if s.Caller.Team == "" && len(s.Leads) == 1 {
		return s.Leads[0]
	}
	return s.Caller.Team
}

// Identify returns the identity of the caller and its membership in teams. It writes nothing.
func Identify(ctx context.Context, h *host.Host) (Membership, error) {
	caller, err := h.Callers().Caller(ctx)
	if err != nil || caller.WorkerID == "" {
		return Membership{Caller: caller}, err
	}
	s := Membership{Caller: caller}
	err = h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		rec, err := tx.Get(ctx, caller.WorkerID)
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return err
		}
		teams, _, err := tx.Teams(ctx)
		s.Worker, s.Leads = rec.Name, nil
		for _, t := range teams {
			if t.LeaderWorker == caller.WorkerID {
				s.Leads = append(s.Leads, t.Name)
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

// CallerTeam returns the [Membership.Team] of the caller.
func CallerTeam(ctx context.Context, h *host.Host) (name string, err error) {
	s, err := Identify(ctx, h)
	return s.Team(), err
}

// begin identifies the caller, and records what has happened to the agents of the team
// since the last call. If the team does not exist, it changes nothing and returns
// [team.NoTeamError].
func begin(ctx context.Context, h *host.Host, teamName string) (team.Caller, []string, error) {
	caller, err := h.Callers().Caller(ctx)
	if err != nil {
		return caller, nil, err
	}
	_, err = view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (registry.Team, error) {
		return team.Get(ctx, tx, teamName)
	})
	if err != nil {
		return caller, nil, err
	}
	warnings, err := h.Sweeper().Sweep(ctx, teamName, caller.WorkerID)
	return caller, warnings, err
}

// view returns what f reads about one team. Without a registry the team does not exist.
func view[T any](ctx context.Context, h *host.Host, teamName string,
	f func(context.Context, *registry.Tx) (T, error),
) (found T, err error) {
	err = h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		found, err = f(ctx, tx)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = &team.NoTeamError{Team: teamName}
	}
	return found, err
}

// Look returns what f reads about one team, as the caller. It changes nothing.
func Look[T any](ctx context.Context, h *host.Host, teamName string,
	f func(context.Context, *registry.Tx, team.Caller) (T, error),
) (found T, err error) {
	caller, err := h.Callers().Caller(ctx)
	if err != nil {
		return found, err
	}
	return view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) (T, error) { return f(ctx, tx, caller) })
}

// idle stops the server of a team if its last agent has gone. A failure is
// a warning.
func idle(ctx context.Context, h *host.Host, teamName string, warnings []string) []string {
	return warned(warnings, h.TeamServers().StopIdle(ctx, teamName))
}

// warned adds a failure to warnings, if there was one.
func warned(warnings []string, err error) []string {
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	return warnings
}
