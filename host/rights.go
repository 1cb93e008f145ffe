package host

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// mayEnd refuses a caller that does not lead the team to end or disturb its workers, and
// refuses agents to end the worker of their leader. It identifies the caller only if one of
// the workers belongs to a team.
func (h *Host) mayEnd(ctx context.Context, recs ...registry.Record) error {
	var teams []string
	for _, r := range recs {
		if r.Team != "" {
			teams = append(teams, r.Team)
		}
	}
	led := h.ledFrom(ctx, recs)
	if len(teams) == 0 && len(led) == 0 {
		return nil
	}
	who, err := h.Caller(ctx)
	if err != nil || who.Person {
		return err
	}
	return h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for _, name := range spawn.Unique(teams) {
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
func (h *Host) ledFrom(ctx context.Context, recs []registry.Record) (names []string) {
	err := h.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		teams, _, err := tx.Teams(ctx)
		for _, t := range teams {
			if t.LeaderWorker != "" && registry.IndexOf(recs, t.LeaderWorker) >= 0 {
				names = append(names, t.Name)
			}
		}
		return err
	})
	if err != nil {
		h.log.Warn("teams can't be read", "error", err)
	}
	return names
}

// ownAmong returns the place of a worker of which the calling process is a part, or -1. It
// decides what a worker may not do to itself, so no mark in the environment counts.
func (h *Host) ownAmong(recs []registry.Record) int {
	for _, id := range h.callers().Within() {
		at := slices.IndexFunc(recs, func(r registry.Record) bool { return r.ID == id || slices.Contains(r.Previous, id) })
		if at >= 0 {
			return at
		}
	}
	return -1
}

// callerAmong returns the place of the worker that the calling process runs in,
// or -1. It decides in which order workers are ended, and what has to finish elsewhere: a
// process with the mark of a shim takes itself out of that.
func (h *Host) callerAmong(recs []registry.Record) int {
	if h.callers().IsShim() {
		return -1
	}
	run := caller.RunDirAbove(caller.ParentPID())
	at := registry.IndexOf(recs, h.callers().IDOf(run))
	if at < 0 && run != "" {
		at = registry.IndexOf(recs, h.CallerID())
	}
	if at < 0 || recs[at].State == registry.Stopped {
		return -1
	}
	return at
}

// Caller returns who calls, see [caller.Finder.Caller].
func (h *Host) Caller(ctx context.Context) (team.Caller, error) { return h.callers().Caller(ctx) }

// CallerID returns the id of the worker of this state directory that the calling
// process runs in, see [caller.Finder.ID].
func (h *Host) CallerID() string { return h.callers().ID() }

// OnlyPerson refuses all callers but a person outside of every worker: what says how the screens of
// agents are read must not come from one of them.
func (h *Host) OnlyPerson(ctx context.Context) error {
	who, err := h.Caller(ctx)
	if err != nil {
		return err
	}
	ids, err := h.dir.RunDirs()
	if err != nil {
		return err
	}
	// In a PID namespace of its own, it may be a part of any of those that it can't see.
	if who.Person && len(h.callers().Within()) == 0 && !slices.ContainsFunc(ids, h.dir.OutOfSight) {
		return nil
	}
	return worker.Hinted("only a person may do this, and not from inside a worker", "run it in a terminal outside of the workers of swarm")
}
