package spawn

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/caller"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/settle"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

type RespawnRequest struct {
	// As describes the worker to start in its place, under the same name; nil: its
	// record does.
	As *Request
	// Resume starts the agent so that it continues with its conversation, by the command
	// that its profile knows for that. The record keeps the worker's own command, which
	// the next respawn runs again.
	Resume bool
	// Session is the id of the conversation; empty: the one that the agent's hooks reported, which
	// is looked for before anything is ended.
	Session string
	// Anew starts the agent without a conversation if there is none that it can resume. Notice
	// is notified of it.
	Anew bool
	// Follow waits until the agent shows that it continues with its conversation, a
	// [*ResumeError] if it ends instead.
	Follow bool
	// CleanFirst removes its workspace before, so that it begins in a new one. A
	// workspace that must be kept is a [KeptError], and the worker was not touched.
	CleanFirst bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Warn gets warnings for the user; may be nil.
	Warn func(worker.Warning)
	// Progress is as in [Request]; that of As is not known.
	Progress func(text string)
	// Notice gets the place of saved work; may be nil.
	Notice func(string)
	// Helper are the arguments with which the host's executable finishes the
	// respawn of the worker that the caller itself runs in; the worker's id is
	// added. It must begin when its stdin ends.
	Helper []string
	// Answer is called if the caller runs in the worker, which continues until Answer
	// has returned. The caller must have written its answer by then, since Respawn may
	// never return.
	Answer func(worker.Worker)
}

// Respawn starts a worker again as it was spawned: the same command, environment,
// tags, directory, options and policies, in the same workspace, which is made
// again if it is gone. It is killed before if it runs. The name stays, the id is
// new, and the history links both.
//
// Respawn checks all that it can before it touches the worker. If the worker can't be
// started then, its old record stays, as one of a worker that has ended.
func (s *Spawner) Respawn(ctx context.Context, name string, req RespawnRequest) (worker.Worker, error) {
	recs, _, err := s.Roster.Pick(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return worker.Worker{}, err
	}
	if err := s.Roster.MayEnd(ctx, recs...); err != nil {
		return worker.Worker{}, err
	}
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		return worker.Worker{}, err
	}
	rec := recs[0]
	if rec.State == registry.Starting {
		if rec, err = s.Settler.Settled(ctx, rec); err != nil {
			return worker.Worker{}, err
		}
	}
	if s.History.Vacated(ctx, reg, rec) {
		return worker.Worker{}, &store.NotFoundError{Name: name}
	}
	if rec, err = s.current(ctx, reg, rec); err != nil {
		return worker.Worker{}, err
	}
	if err := s.mayRun(ctx, rec); err != nil {
		return worker.Worker{}, err
	}
	s.Settler.Reconcile(ctx, reg, func(id string) bool { return id == rec.ID })
	r := &respawnRun{Spawner: s, req: req, reg: reg, old: rec}
	if err := r.prepare(ctx); err != nil {
		return worker.Worker{}, r.unanswered(ctx, err)
	}
	if s.Roster.Inside([]registry.Record{rec}) == 0 {
		w, err := r.fromInside(ctx)
		return w, worker.WithName(err, "cannot respawn from inside", name)
	}
	w, err := r.run(ctx)
	if err == nil && req.Follow && r.plan.resumed != nil {
		err = s.followResumed(ctx, r)
	}
	if lost, ok := errors.AsType[*ResumeError](err); ok {
		if lost.Gone && req.Anew {
			r.notice(lost.Error() + "; it starts anew")
			req.Resume = false
			return s.Respawn(ctx, r.plan.rec.ID, req)
		}
		if s.Callers.IsShim() {
			s.Logger.Warn("an agent can't continue its conversation", "worker", name, "error", err)
		}
		return w, err
	}
	if r.killing != nil && (err != nil || req.As != nil) {
		r.killing.Sweep(ctx) // what they shared may be useless any more
	}
	if err != nil {
		return worker.Worker{}, r.unanswered(ctx, err)
	}
	if rec.Agent != "" {
		s.Notifier.Wake(ctx, rec.Team) // its new process has no notices yet
	}
	return w, nil
}

// current returns a record in which the worker's end is recorded, if it has ended by
// itself.
func (s *Spawner) current(ctx context.Context, reg *registry.Registry, rec registry.Record) (registry.Record, error) {
	gs := s.Plugins.Groups([]registry.Record{rec}, func(r registry.Record) bool { return r.IsRunning() && s.History.Stale(&r) })
	for _, g := range gs {
		_, err := s.History.CatchUp(ctx, reg, g)
		warn.If(s.Logger, err, "the end of a worker can't be recorded", "worker", rec.Name)
	}
	return store.Reread(ctx, reg, rec)
}

// mayRun returns an error for a worker that has lost its shim and perhaps still runs: no
// other one is started next to it, and nothing is signalled in vain.
func (s *Spawner) mayRun(ctx context.Context, rec registry.Record) error {
	gs := s.Plugins.Groups([]registry.Record{rec}, func(r registry.Record) bool { return r.IsRunning() && s.History.Stale(&r) })
	for _, g := range gs {
		for _, r := range s.Plugins.Statuses(ctx, g) {
			if r.Err == nil && r.Status.State == swarm.StateLost && len(r.Status.PerhapsAlive) > 0 {
				w := worker.Of(rec)
				w.Apply(r)
				return worker.MayRun(w, "cannot respawn worker")
			}
		}
	}
	return nil
}

// KeptError says why a workspace that was to be removed stays.
type KeptError struct {
	Path string
	Kept swarm.Kept
}

func (e *KeptError) Error() string { return "cannot remove worktree: " + e.Kept.Reason }

type respawnRun struct {
	*Spawner
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
func (r *respawnRun) prepare(ctx context.Context) error {
	var err error
	if r.plan, err = r.planRespawn(r.old, r.req); err != nil {
		return err
	}
	if r.req.Resume {
		err := r.resume()
		if err != nil {
			return err
		}
	}
	err = r.startPlugins(ctx, r.reg, r.plan)
	if errors.Is(err, worker.ErrExists) {
		return r.overtaken()
	}
	if err != nil {
		return err
	}
	if err := r.findConversation(); err != nil {
		return err
	}
	// The worker that runs, or the workspace that has to go first, would be lost.
	if r.old.State == registry.Running || r.req.CleanFirst && r.old.Workspace != nil {
		if err := r.foresee(ctx); err != nil {
			return err
		}
	}
	if r.old.State == registry.Running {
		if err := r.engineAnswers(ctx); err != nil {
			return err
		}
	}
	if r.req.CleanFirst && r.old.Workspace != nil {
		if err := r.inspect(ctx); err != nil {
			return err
		}
	}
	if registry.Full(string(r.Dir)) {
		return fmt.Errorf("%w in %s", registry.ErrFull, r.Dir)
	}
	// That a registry can be opened does not say that it can be written.
	return r.reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return errors.Join(team.MayRestart(ctx, tx, &r.old), tx.Delete(ctx, r.plan.rec.ID))
	})
}

// inspect asks whether the old workspace could be removed, were the worker's
// processes gone.
func (r *respawnRun) inspect(ctx context.Context) error {
	opts := swarm.RemoveOptions{Force: r.req.ForceDirty, Vacant: r.old.State == registry.Running}
	state, err := r.Plugins.InspectWorkspace(ctx, &r.old, opts)
	if err == nil && state.Kept != nil {
		err = &KeptError{Path: r.old.Workspace.Location(), Kept: *state.Kept}
	}
	return err
}

func (r *respawnRun) run(ctx context.Context) (_ worker.Worker, err error) {
	release, err := r.hold()
	if err != nil {
		return worker.Worker{}, err
	}
	defer release()
	if err := r.end(ctx); err != nil {
		return worker.Worker{}, err
	}
	// The others of several respawns find the record gone after it.
	unlock, err := r.Dir.Lock(ctx, r.old.ID)
	if err != nil {
		return worker.Worker{}, err
	}
	defer unlock()
	if err := r.find(ctx); err != nil {
		return worker.Worker{}, err
	}
	if err := r.clean(ctx); err != nil {
		return worker.Worker{}, err
	}
	unlockNew, err := r.Dir.Lock(ctx, r.plan.rec.ID)
	if err != nil {
		return worker.Worker{}, err
	}
	defer unlockNew()
	if err := r.start(ctx); err != nil {
		return worker.Worker{}, err
	}
	r.recordLeft(ctx)
	_, err = r.History.DropRunDirs(ctx, r.reg, r.old.ID, r.plan.rec.ID)
	warn.If(r.Logger, err, "run directories can't be removed")
	w := worker.Of(r.plan.rec)
	w.Apply(r.plan.status)
	w.PID = r.plan.status.Status.PID
	return w, nil
}

// hold shows until release is called that the worker, which has no process for a while,
// is started again: its agent is not given up, and followers of its output continue. Of
// several respawns one holds the lock.
func (r *respawnRun) hold() (release func(), err error) {
	release, err = r.Dir.TryLock(statedir.RespawnLock(r.old.ID))
	if release == nil {
		release = func() {}
	}
	return release, err
}

// end kills the worker, by its policy, and records its end.
func (r *respawnRun) end(ctx context.Context) error {
	if r.old.State != registry.Running {
		return nil
	}
	// A process that sees its end must not take it for that of its agent.
	if err := r.mark(ctx, registry.StepRespawning); err != nil {
		return err
	}
	r.killing = r.Killer.EndForRespawn(ctx, r.old, r.req.Warn)
	err := r.killing.Err()
	if err != nil {
		warn.If(r.Logger, r.mark(context.WithoutCancel(ctx), ""), "the step of a respawn can't be recorded", "worker", r.old.Name)
	}
	return err
}

func (r *respawnRun) mark(ctx context.Context, step string) error {
	if r.old.Agent == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, kill.RecordLimit)
	defer cancel()
	return registry.IgnoreNotFound(r.reg.Edit(ctx, r.old.ID, func(rec *registry.Record) {
		if rec.State == registry.Running {
			rec.Step = step
		}
	}))
}

// find looks what became of the old record. The record of a worker that is kept for a
// time only may have gone with its end or soon after.
func (r *respawnRun) find(ctx context.Context) error {
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
	return r.Plugins.AskWorkspace(ctx, r.plan.workspace, false, into(&r.plan.maker))
}

func (r *respawnRun) overtaken() error {
	return fmt.Errorf("cannot respawn '%s': %w", r.old.Name, worker.ErrOvertaken)
}

func (r *respawnRun) clean(ctx context.Context) error {
	if !r.req.CleanFirst || r.plan.former == nil {
		return nil
	}
	rec := r.old
	rec.Workspace = r.plan.former
	res, err := r.Killer.RemoveWorkspace(ctx, &rec, r.req.ForceDirty)
	for _, line := range kill.Rescued(rec.Name, res.Rescues) {
		r.notice(line)
		if r.Callers.IsShim() {
			r.record(ctx, history.Rescued, line)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("cannot remove worktree: %w", err)
	case res.Kept != nil:
		return &KeptError{Path: rec.Workspace.Location(), Kept: *res.Kept}
	}
	r.plan.former = nil
	if r.plan.replaces == nil {
		return nil
	}
	r.plan.replaces.Workspace = nil
	return r.reg.Edit(ctx, r.old.ID, func(rec *registry.Record) { rec.Workspace, rec.Removing = nil, false })
}

func (r *respawnRun) notice(text string) {
	if r.req.Notice != nil {
		r.req.Notice(text)
	}
}

func (r *respawnRun) start(ctx context.Context) (err error) {
	var done undo
	defer func() { err = done.onError(ctx, r.Logger, err) }()
	err = r.make(ctx, r.reg, r.plan, &done)
	if errors.Is(err, worker.ErrExists) {
		return r.overtaken()
	}
	return err
}

func (r *respawnRun) recordLeft(ctx context.Context) {
	if r.plan.replaces == nil || r.plan.replaces.Workspace == nil {
		return
	}
	before, now := r.plan.replaces.Workspace, r.plan.rec.Workspace
	if now != nil && now.Location() == before.Location() {
		return
	}
	if r.req.Warn != nil {
		r.req.Warn(worker.Warning{Text: fmt.Sprintf("the workspace that '%s' had stays: %s", r.old.Name, before.Location())})
	}
	r.record(ctx, history.Kept, before.Location())
}

// unanswered writes an error into the history if the worker was ended for nothing,
// or if no caller will see the error. An agent is lost with its worker then.
func (r *respawnRun) unanswered(ctx context.Context, cause error) error {
	if r.killing != nil && !errors.Is(cause, worker.ErrOvertaken) || r.Callers.IsShim() {
		r.record(ctx, history.RespawnFailed, worker.Wording(cause))
	}
	return cause
}

func (r *respawnRun) record(ctx context.Context, kind registry.EventKind, text string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kill.RecordLimit)
	defer cancel()
	err := r.reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if kind == history.RespawnFailed && r.killing != nil && r.killing.Err() == nil {
			if _, err := team.Ended(ctx, tx, r.old.ID, team.End{Reason: settle.ReasonNotRespawned}, time.Now()); err != nil {
				return err
			}
		}
		_, err := tx.Append(ctx, history.NewEvent(&r.old, kind, history.OneLine(text), time.Now()))
		return err
	})
	warn.If(r.Logger, err, "the history can't be written", "worker", r.old.Name)
}

// fromInside has another process finish the respawn of the worker that the caller
// runs in, which would end with it.
func (r *respawnRun) fromInside(ctx context.Context) (worker.Worker, error) {
	w := r.Roster.Observe(ctx, []registry.Record{r.old})[0]
	if r.req.As != nil || len(r.req.Helper) == 0 {
		return w, worker.Invalid("this has to be done from elsewhere")
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.Executable, append(r.req.Helper, r.old.ID)...)
	cmd.Dir = "/" // not in a workspace that may have to go
	// The mark keeps it out of the worker: shims recognise it by that and by what it
	// runs, see [rundir.IsHelper].
	cmd.Env = append(caller.WorkerEnv(r.Env), swarm.EnvDir+"="+string(r.Dir), swarm.EnvShim+"="+rundir.RespawnMark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Nothing is written to it; its end, which comes with that of this process at the
	// latest, says that the caller has its answer.
	begin, err := cmd.StdinPipe()
	if err != nil {
		return w, err
	}
	if err := cmd.Start(); err != nil {
		return w, err
	}
	if r.req.Answer != nil {
		r.req.Answer(w)
	}
	if err := begin.Close(); err != nil {
		return w, err
	}
	return w, cmd.Process.Release()
}
