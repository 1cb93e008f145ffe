package host

import (
	"context"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// RespawnRequest says how to start a worker again.
type RespawnRequest struct {
	// As is what to start in its place, under the same name; nil: what its record
	// says.
	As *SpawnRequest
	// Resume starts the agent so that it goes on with its conversation, by the command
	// that its profile knows for that. The record keeps the worker's own command, which
	// the next respawn runs again.
	Resume bool
	// Session is the id of the conversation; empty: the one that the agent's hooks told.
	Session string
	// CleanFirst removes its workspace before, so that it begins in a new one. A
	// workspace that must be kept is a [KeptError], and the worker was not touched.
	CleanFirst bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Warn is told what the user should know; nil: nobody.
	Warn func(Warning)
	// Notice is told where saved work is; nil: nobody.
	Notice func(string)
	// Helper are the arguments with which the host's executable finishes the
	// respawn of the worker that the caller itself runs in; the worker's id is
	// added. It must begin when its stdin ends.
	Helper []string
	// Answer is called if the caller runs in the worker, which goes on as it is
	// until Answer has returned. What has to be said must be written by then, since
	// Respawn may never return.
	Answer func(Worker)
}

// Respawn starts a worker again as it was spawned: the same command, environment,
// tags, directory, options and policies, in the same workspace, which is made
// again if it is gone. It is killed before if it runs. The name stays, the id is
// new, and the history links both.
//
// What can be found out before is found out before the worker is touched. If it
// can't be started then, its old record stays: that of a worker that has ended.
func (h *Host) Respawn(ctx context.Context, name string, req RespawnRequest) (Worker, error) {
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	if err := h.mayEnd(ctx, recs...); err != nil {
		return Worker{}, err
	}
	reg, err := h.writing(ctx)
	if err != nil {
		return Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.settled(ctx, rec); err != nil {
			return Worker{}, err
		}
	}
	if h.vacated(ctx, reg, rec) {
		return Worker{}, &NotFoundError{Name: name}
	}
	if rec, err = h.current(ctx, reg, rec); err != nil {
		return Worker{}, err
	}
	h.reconcile(ctx, reg, func(id string) bool { return id == rec.ID })
	r := &respawning{h: h, req: req, reg: reg, old: rec}
	if err := r.prepare(ctx); err != nil {
		return Worker{}, r.unanswered(ctx, err)
	}
	if h.callerAmong([]registry.Record{rec}) == 0 {
		w, err := r.fromInside(ctx)
		return w, naming(err, "cannot respawn from inside", name)
	}
	w, err := r.run(ctx)
	if r.killing != nil && (err != nil || req.As != nil) {
		r.killing.sweep(ctx) // what they shared may be of no use any more
	}
	if err != nil {
		return Worker{}, r.unanswered(ctx, err)
	}
	if rec.Agent != "" {
		h.Wake(ctx, rec.Team) // its new process was told of nothing
	}
	return w, nil
}

// current returns a record in which the worker's end is recorded, if it has ended by
// itself.
func (h *Host) current(ctx context.Context, reg *registry.Registry, rec registry.Record) (registry.Record, error) {
	gs := h.plugins.Groups([]registry.Record{rec}, func(r registry.Record) bool { return isRunning(r) && h.stirred(&r) })
	for _, g := range gs {
		_, err := h.catchUp(ctx, reg, g)
		h.warnIf(err, "the end of a worker can't be recorded", "worker", rec.Name)
	}
	return reread(ctx, reg, rec)
}

// KeptError says why a workspace that was to be removed stays.
type KeptError struct {
	Path string
	Kept swarm.Kept
}

func (e *KeptError) Error() string { return "cannot remove worktree: " + e.Kept.Reason }
