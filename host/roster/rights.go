package roster

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/warn"
)

// MayEnd refuses a caller that does not lead the team to end or disturb its workers, and
// refuses agents to end the worker of their leader. It identifies the caller only if one of
// the workers belongs to a team.
func (r *Roster) MayEnd(ctx context.Context, recs ...registry.Record) error {
	var teams []string
	for _, rec := range recs {
		if rec.Team != "" && !slices.Contains(teams, rec.Team) {
			teams = append(teams, rec.Team)
		}
	}
	led := r.ledFrom(ctx, recs)
	if len(teams) == 0 && len(led) == 0 {
		return nil
	}
	who, err := r.Callers.Caller(ctx)
	if err != nil || who.Person {
		return err
	}
	return r.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, name := range teams {
			if err := team.MayEnd(ctx, tx, who, name); err != nil {
				return err
			}
		}
		if slices.Contains(led, who.Team) && team.Lead(ctx, tx, who, who.Team, "") != nil {
			return team.ErrKillLeader
		}
		return nil
	})
}

// ledFrom returns the names of the teams whose leaders live in one of the workers.
// Teams that can't be read must not stand between a user and a kill.
func (r *Roster) ledFrom(ctx context.Context, recs []registry.Record) (names []string) {
	err := r.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		teams, _, err := tx.Teams(ctx)
		for _, t := range teams {
			if t.LeaderWorker != "" && registry.IndexOf(recs, t.LeaderWorker) >= 0 {
				names = append(names, t.Name)
			}
		}
		return err
	})
	warn.If(r.Logger, err, "teams can't be read")
	return names
}

// Own returns the index of a worker that the calling process is a part of, or -1. It
// decides what a worker may not do to itself, so no mark in the environment counts.
func (r *Roster) Own(recs []registry.Record) int {
	for _, id := range r.Callers.Within() {
		at := slices.IndexFunc(recs, func(rec registry.Record) bool { return rec.ID == id || slices.Contains(rec.Previous, id) })
		if at >= 0 {
			return at
		}
	}
	return -1
}

// Inside returns the index of the worker that the calling process runs in, or -1. It decides in
// which order workers are ended, and what has to finish elsewhere: a process with the mark of a shim
// takes itself out of that.
func (r *Roster) Inside(recs []registry.Record) int {
	callers := r.Callers
	if callers.IsShim() {
		return -1
	}
	run := caller.RunDirAbove(caller.ParentPID())
	at := registry.IndexOf(recs, callers.IDOf(run))
	if at < 0 && run != "" {
		at = registry.IndexOf(recs, callers.ID())
	}
	if at < 0 || recs[at].State == registry.Stopped {
		return -1
	}
	return at
}
