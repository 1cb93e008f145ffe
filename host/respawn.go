package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
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
	// Answer is called if the caller runs in the worker, which continues unchanged until
	// Answer has returned. The answer must be written by then, since Respawn may never
	// return.
	Answer func(Worker)
}

// Respawn starts a worker again as it was spawned: the same command, environment,
// tags, directory, options and policies, in the same workspace, which is made
// again if it is gone. It is killed before if it runs. The name stays, the id is
// new, and the history links both.
//
// All checks that are possible in advance are made before the worker is touched. If it
// can't be started after that, its old record stays, as that of a worker that has ended.
func (h *Host) Respawn(ctx context.Context, name string, req RespawnRequest) (Worker, error) {
	recs, _, err := h.chooseNamed(ctx, Selection{Names: []string{name}})
	if err != nil {
		return Worker{}, err
	}
	if err := h.mayEnd(ctx, recs...); err != nil {
		return Worker{}, err
	}
	reg, err := h.store.Writing(ctx)
	if err != nil {
		return Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = h.settled(ctx, rec); err != nil {
			return Worker{}, err
		}
	}
	if h.history.Vacated(ctx, reg, rec) {
		return Worker{}, &NotFoundError{Name: name}
	}
	if rec, err = h.current(ctx, reg, rec); err != nil {
		return Worker{}, err
	}
	h.history.Reconcile(ctx, reg, func(id string) bool { return id == rec.ID })
	r := &respawning{h: h, req: req, reg: reg, old: rec}
	if err := r.prepare(ctx); err != nil {
		return Worker{}, r.unanswered(ctx, err)
	}
	if h.callerAmong([]registry.Record{rec}) == 0 {
		w, err := r.fromInside(ctx)
		return w, worker.Naming(err, "cannot respawn from inside", name)
	}
	w, err := r.run(ctx)
	if r.killing != nil && (err != nil || req.As != nil) {
		r.killing.Sweep(ctx) // what they shared may be of no use any more
	}
	if err != nil {
		return Worker{}, r.unanswered(ctx, err)
	}
	if rec.Agent != "" {
		h.Wake(ctx, rec.Team) // its new process was told of nothing
	}
	return w, nil
}

// recordLimit is how long the recording of what happened may take, also after the caller
// gave up.
const recordLimit = 15 * time.Second

// current returns a record in which the worker's end is recorded, if it has ended by
// itself.
func (h *Host) current(ctx context.Context, reg *registry.Registry, rec registry.Record) (registry.Record, error) {
	gs := h.plugins.Groups([]registry.Record{rec}, func(r registry.Record) bool { return r.IsRunning() && h.history.Stale(&r) })
	for _, g := range gs {
		_, err := h.history.CatchUp(ctx, reg, g)
		h.warnIf(err, "the end of a worker can't be recorded", "worker", rec.Name)
	}
	return store.Reread(ctx, reg, rec)
}

// KeptError says why a workspace that was to be removed stays.
type KeptError struct {
	Path string
	Kept swarm.Kept
}

func (e *KeptError) Error() string { return "cannot remove worktree: " + e.Kept.Reason }

// respawning is one call of Respawn.
type respawning struct {
	h   *Host
	req RespawnRequest
	reg *registry.Registry
	// old is the worker as it was when the call began.
	old  registry.Record
	plan *plan
	// killing is how it was ended; nil if it had ended before.
	killing *kill.Ended
}

// prepare finds out whether the worker can be started again, as far as that is
// possible while it runs.
func (r *respawning) prepare(ctx context.Context) error {
	var err error
	if r.plan, err = r.h.planRespawn(r.old, r.req); err != nil {
		return err
	}
	if r.req.Resume {
		if r.plan.resumed, err = r.h.resumed(r.old, r.req.Session); err != nil {
			return err
		}
	}
	err = r.h.startPlugins(ctx, r.reg, r.plan)
	if errors.Is(err, ErrExists) {
		return r.overtaken()
	}
	if err != nil {
		return err
	}
	if r.req.CleanFirst && r.old.Workspace != nil {
		if err := r.inspect(ctx); err != nil {
			return err
		}
	}
	if registry.Full(r.h.opts.Dir) {
		return fmt.Errorf("%w in %s", registry.ErrFull, r.h.opts.Dir)
	}
	// That a registry can be opened does not say that it can be written.
	return r.reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return errors.Join(team.MayRestart(ctx, tx, &r.old), tx.Delete(ctx, r.plan.rec.ID))
	})
}

// inspect asks whether the old workspace could be removed, were the worker's
// processes gone.
func (r *respawning) inspect(ctx context.Context) error {
	opts := swarm.RemoveOptions{Force: r.req.ForceDirty, Vacant: r.old.State == registry.Running}
	kept, err := r.h.plugins.InspectWorkspace(ctx, &r.old, opts)
	if err == nil && kept != nil {
		err = &KeptError{Path: r.old.Workspace.Path, Kept: *kept}
	}
	return err
}

// run ends the worker and starts it again.
func (r *respawning) run(ctx context.Context) (_ Worker, err error) {
	release, err := r.hold()
	if err != nil {
		return Worker{}, err
	}
	defer release()
	if err := r.end(ctx); err != nil {
		return Worker{}, err
	}
	// The others of several respawns find the record gone after it.
	unlock, err := r.h.dir.Lock(ctx, r.old.ID)
	if err != nil {
		return Worker{}, err
	}
	defer unlock()
	if err := r.find(ctx); err != nil {
		return Worker{}, err
	}
	if err := r.clean(ctx); err != nil {
		return Worker{}, err
	}
	unlockNew, err := r.h.dir.Lock(ctx, r.plan.rec.ID)
	if err != nil {
		return Worker{}, err
	}
	defer unlockNew()
	if err := r.start(ctx); err != nil {
		return Worker{}, err
	}
	r.tellLeft(ctx)
	_, err = r.h.history.DropRunDirs(ctx, r.reg, r.old.ID, r.plan.rec.ID)
	r.h.warnIf(err, "run directories can't be removed")
	w := worker.Of(r.plan.rec)
	w.Apply(r.plan.status)
	w.PID = r.plan.status.Status.PID
	return w, nil
}

// hold has those who look after agents pass over that of the worker, which has no
// process for a while, until release is called. Of several respawns one holds it.
func (r *respawning) hold() (release func(), err error) {
	if r.old.Agent == "" {
		return func() {}, nil
	}
	release, err = r.h.dir.TryLock(statedir.RespawnLock(r.old.ID))
	if release == nil {
		release = func() {}
	}
	return release, err
}

// end kills the worker, by its policy, and records its end.
func (r *respawning) end(ctx context.Context) error {
	if r.old.State != registry.Running {
		return nil
	}
	// Whoever sees its end must not take it for that of its agent.
	if err := r.mark(ctx, registry.StepRespawning); err != nil {
		return err
	}
	r.killing = r.h.killer().EndForRespawn(ctx, r.old, r.req.Warn)
	err := r.killing.Err()
	if err != nil {
		r.h.warnIf(r.mark(context.WithoutCancel(ctx), ""), "the step of a respawn can't be recorded", "worker", r.old.Name)
	}
	return err
}

// mark records what is done to the worker of an agent that runs.
func (r *respawning) mark(ctx context.Context, step string) error {
	if r.old.Agent == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recordLimit)
	defer cancel()
	return registry.IgnoreNotFound(r.reg.Edit(ctx, r.old.ID, func(rec *registry.Record) {
		if rec.State == registry.Running {
			rec.Step = step
		}
	}))
}

// find reads the present state of the old record. The record of a worker with a short
// retention may have been removed with its end or soon after.
func (r *respawning) find(ctx context.Context) error {
	now, err := r.reg.Get(ctx, r.old.ID)
	switch {
	case errors.Is(err, registry.ErrNotFound) && r.killing != nil && r.old.Retain != registry.RetainUntilClean:
		r.plan.adopt(r.old, nil)
		return nil
	case errors.Is(err, registry.ErrNotFound):
		return r.overtaken()
	case err != nil:
		return err
	case now.State != registry.Stopped:
		return fmt.Errorf("cannot respawn '%s': its end could not be recorded", r.old.Name)
	}
	r.plan.adopt(now, &now)
	if r.plan.maker != nil || !r.plan.makesWorkspace() {
		return nil
	}
	return r.h.plugins.AskWorkspace(ctx, r.plan.workspace, false, func(p *backend.Peer) error {
		r.plan.maker = p
		return nil
	})
}

func (r *respawning) overtaken() error {
	return fmt.Errorf("cannot respawn '%s': %w", r.old.Name, ErrOvertaken)
}

// clean removes the old workspace, if that was asked for.
func (r *respawning) clean(ctx context.Context) error {
	if !r.req.CleanFirst || r.plan.former == nil {
		return nil
	}
	rec := r.old
	rec.Workspace = r.plan.former
	res, err := r.h.plugins.RemoveWorkspace(ctx, &rec, r.req.ForceDirty)
	for _, line := range kill.Rescued(rec.Name, res.Rescues) {
		if r.req.Notice != nil {
			r.req.Notice(line)
		}
		if r.h.callers().IsKeeper() {
			r.tell(ctx, history.Rescued, line)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("cannot remove worktree: %w", err)
	case res.Kept != nil:
		return &KeptError{Path: rec.Workspace.Path, Kept: *res.Kept}
	}
	r.plan.former = nil
	if r.plan.replaces == nil {
		return nil
	}
	r.plan.replaces.Workspace = nil
	return r.reg.Edit(ctx, r.old.ID, func(rec *registry.Record) { rec.Workspace = nil })
}

// start starts the worker in the place of the old one.
func (r *respawning) start(ctx context.Context) (err error) {
	var done undo
	defer func() { err = done.onError(ctx, r.h.log, err) }()
	err = r.h.make(ctx, r.reg, r.plan, &done)
	if errors.Is(err, ErrExists) {
		return r.overtaken()
	}
	return err
}

// tellLeft tells of the workspace that the worker had and has no more.
func (r *respawning) tellLeft(ctx context.Context) {
	if r.plan.replaces == nil || r.plan.replaces.Workspace == nil {
		return
	}
	before, now := r.plan.replaces.Workspace, r.plan.rec.Workspace
	if now != nil && now.Path == before.Path {
		return
	}
	if r.req.Warn != nil {
		r.req.Warn(Warning{Text: fmt.Sprintf("the worktree that '%s' had stays: %s", r.old.Name, before.Path)})
	}
	r.tell(ctx, history.Kept, before.Path)
}

// unanswered writes an error into the history if the worker was ended for nothing,
// or if nobody else will see the error. An agent is lost with its worker then.
func (r *respawning) unanswered(ctx context.Context, cause error) error {
	if r.killing != nil && !errors.Is(cause, ErrOvertaken) || r.h.callers().IsKeeper() {
		r.tell(ctx, history.RespawnFailed, worker.Wording(cause))
	}
	return cause
}

// tell writes into the history of the old worker.
func (r *respawning) tell(ctx context.Context, kind history.Kind, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
	defer cancel()
	err := r.reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if kind == history.RespawnFailed && r.killing != nil && r.killing.Err() == nil {
			if _, err := team.Ended(ctx, tx, r.old.ID, team.End{Reason: reasonNotRespawned}, time.Now()); err != nil {
				return err
			}
		}
		_, err := tx.Append(ctx, history.NewEvent(&r.old, kind, history.OneLine(text), time.Now()))
		return err
	})
	r.h.warnIf(err, "the history can't be written", "worker", r.old.Name)
}
