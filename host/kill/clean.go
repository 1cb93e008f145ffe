package kill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

type CleanRequest struct {
	// KeepWorkspace leaves the workspaces where they are.
	KeepWorkspace bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Forget cleans workers of which nothing is known, too: their backend can't be asked, maybe
	// never again. Whatever runs elsewhere continues; workspaces stay.
	Forget bool
	// Done is called with each outcome in the order of the selection; may be nil.
	Done func(Outcome)
}

// cleanRun is the cleaning of one worker.
type cleanRun struct {
	Outcome
	// forgotten says why the worker may still run, for one that is forgotten.
	forgotten string
	// elsewhere says that the worker had no shim: its engine may keep what it left.
	elsewhere bool
}

// Clean removes what stopped workers have left: workspace, run directory,
// record. With All or Tag it passes over workers that run; a running worker that
// is named is a [worker.ErrRunning] in its outcome. An unknown name is a
// [store.ErrNotFound]; nothing was touched then, and neither if a worker is of a team that
// the caller does not lead.
func (k *Killer) Clean(ctx context.Context, sel worker.Selection, req CleanRequest) ([]Outcome, error) {
	recs, _, err := k.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := k.Roster.MayEnd(ctx, recs...); err != nil {
		return nil, err
	}
	if recs, err = k.Settler.WithoutEnded(ctx, recs, len(sel.Names) > 0); err != nil {
		return nil, err
	}
	selected := slices.Clone(recs)
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() {
		if reg, err := k.Store.ToWrite(ctx); err == nil { // else it is said of each worker
			k.Settler.Reconcile(ctx, reg, func(id string) bool { return registry.IndexOf(selected, id) >= 0 })
		}
	})
	all := make([]cleanRun, len(recs))
	skip := make([]bool, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		if r.State == registry.Starting && !k.Dir.Locked(r.ID) {
			wg.Go(func() {
				if now, err := k.Settler.Settled(ctx, r); err == nil {
					recs[i] = now
				}
			})
		}
	}
	wg.Wait()
	ws, mute := k.observed(ctx, recs)
	k.freeSpace(ws)
	for i, w := range ws {
		out := &all[i]
		out.Worker = w
		switch {
		case w.Gone():
			wg.Go(func() { k.cleanOne(ctx, recs[i], req, out) })
		case req.Forget && mute[i] != "" && w.Status != worker.StatusLost:
			wg.Go(func() { k.forget(ctx, recs[i], req, "its backend could not be asked: "+mute[i], out) })
		case w.Status == worker.StatusUnknown && k.isElsewhere(recs[i]):
			if req.Forget {
				wg.Go(func() { k.forget(ctx, recs[i], req, "its backend could not be asked", out) })
				continue
			}
			out.Err = worker.Hinted(fmt.Sprintf("cannot clean worker '%s': %s", w.Name, w.Reason),
				fmt.Sprintf("if it will never answer again, 'swarm clean %s --forget' removes its record", w.Name))
		case w.Status == worker.StatusUnknown:
			out.Err = fmt.Errorf("cannot clean worker '%s': %s", w.Name, w.Reason)
		case w.Status == worker.StatusStarting && w.Reason != "":
			out.Err = fmt.Errorf("cannot clean worker '%s': its %s", w.Name, w.Reason)
		case w.Status == worker.StatusLost && len(w.Survivors) == 0:
			if req.Forget {
				wg.Go(func() { k.forget(ctx, recs[i], req, "its shim died: "+w.Perhaps(), out) })
				continue
			}
			out.Err = worker.MayRun(w, "cannot clean worker")
		case mute[i] != "":
			out.Err = worker.WithHint(
				worker.Errorf(worker.ErrRunning, "cannot clean running worker '%s' (%s)", w.Name, mute[i]),
				fmt.Sprintf("'swarm kill %[1]s' ends it by its shim, and 'swarm clean %[1]s --forget' removes its record and lets it run", w.Name))
			skip[i] = len(sel.Names) == 0
		default:
			out.Err = worker.StillRunning(w.Name)
			skip[i] = len(sel.Names) == 0
		}
	}
	wg.Wait()
	k.sweepCleaned(ctx, recs, all)
	var outcomes []Outcome
	for i, c := range all {
		if skip[i] {
			continue
		}
		outcomes = append(outcomes, c.Outcome)
		if req.Done != nil {
			req.Done(c.Outcome)
		}
	}
	return outcomes, nil
}

// freeSpace removes the output of all workers that are about to be cleaned if the disk is full:
// that of one may be too little for the change of another one's record.
func (k *Killer) freeSpace(ws []worker.Worker) {
	if !registry.Full(string(k.Dir)) {
		return
	}
	for _, w := range ws {
		if w.Gone() {
			_ = k.Dir.DropOutput(w.ID) // the cleaning says what it can't remove
		}
	}
}

// isElsewhere reports whether a worker has no shim on this machine: its engine keeps what it
// left.
func (k *Killer) isElsewhere(rec registry.Record) bool {
	_, err := os.Lstat(filepath.Join(k.Dir.RunDir(rec.ID), rundir.StatusFile))
	return err != nil && !rec.Handle.IsZero()
}

// forget removes the record of a worker that may still run. why says why nothing better is
// possible.
func (k *Killer) forget(ctx context.Context, rec registry.Record, req CleanRequest, why string, out *cleanRun) {
	req.KeepWorkspace = true // the worker may be at work in it
	out.Notices = append(out.Notices, fmt.Sprintf("'%s' is forgotten; if it still runs, it continues", rec.Name))
	out.forgotten = why
	k.cleanOne(ctx, rec, req, out)
	out.elsewhere = false // what it left can't be removed now
}

func (k *Killer) cleanOne(ctx context.Context, rec registry.Record, req CleanRequest, out *cleanRun) {
	if err := k.cleanLocked(ctx, rec, req, out); err != nil {
		out.Err = fmt.Errorf("cannot clean worker '%s': %w", rec.Name, err)
	}
}

func (k *Killer) cleanLocked(ctx context.Context, rec registry.Record, req CleanRequest, out *cleanRun) error {
	unlock, err := k.Dir.Lock(ctx, rec.ID)
	if err != nil {
		return err
	}
	defer unlock()
	reg, now, err := k.recordCleaned(ctx, rec, out.Worker, out.forgotten != "")
	if errors.Is(err, registry.ErrFull) {
		// The output, which is removed anyway, may fill the disk.
		if err = k.Dir.DropOutput(rec.ID); err == nil {
			reg, now, err = k.recordCleaned(ctx, rec, out.Worker, out.forgotten != "")
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil // another process has just cleaned it
	}
	if err != nil {
		return err
	}
	switch {
	case now.Workspace == nil:
	case req.KeepWorkspace:
		out.Notices = append(out.Notices, fmt.Sprintf("the workspace of '%s' stays: %s", now.Name, now.Workspace.Location()))
	default:
		if err := k.cleanWorkspace(ctx, now, req, &out.Outcome); err != nil {
			return err
		}
	}
	out.elsewhere = k.isElsewhere(rec)
	var left []string
	for _, id := range append(now.Previous, rec.ID) {
		if out.forgotten != "" && k.Dir.Kept(id) {
			left = append(left, id) // it goes once its shim has ended
			continue
		}
		if err := os.RemoveAll(k.Dir.RunDir(id)); err != nil {
			return err
		}
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		text := ""
		if out.forgotten != "" {
			text = "forgotten, since " + out.forgotten
		}
		events := []registry.Event{history.NewEvent(&now, history.Cleaned, history.OneLine(text), time.Now())}
		if now.Workspace != nil && !out.WorkspaceRemoved {
			events = append([]registry.Event{history.NewEvent(&now, history.Kept, cmp.Or(out.keptAt, now.Workspace.Location()), time.Now())}, events...)
		}
		err := errors.Join(tx.Delete(ctx, rec.ID), tx.Forget(ctx, rec.ID), team.WorkerCleaned(ctx, tx, &now))
		for _, id := range left {
			err = errors.Join(err, tx.Leave(ctx, id))
		}
		if err != nil {
			return err
		}
		_, err = tx.Append(ctx, events...)
		return err
	})
}

// recordCleaned records the end of a worker that is to be cleaned. Without its
// run directory a worker whose end is not recorded would be lost, should that be
// the last that happens. A forgotten worker perhaps still runs, so it gets no end.
func (k *Killer) recordCleaned(ctx context.Context, rec registry.Record, w worker.Worker, forgotten bool) (*registry.Registry, registry.Record, error) {
	reg, err := k.Store.ToWrite(ctx)
	if err != nil {
		return nil, rec, err
	}
	now, err := store.Reread(ctx, reg, rec)
	if err == nil && now.State != registry.Stopped && !forgotten {
		end := swarm.Status{
			State: swarm.StateLost, Started: w.Started, Where: w.Where, Exit: w.Exit, Reason: w.Reason,
			Restarts: w.Restarts, Completion: w.Completion,
		}
		n := k.History.Report(ctx, rec, end)
		n.DropsWorkspace = true // what becomes of it is reported with the cleaning
		_, err = k.History.Write(ctx, reg, []history.Report{n})
	}
	return reg, now, err
}

// cleanWorkspace removes the workspace of a worker, or says why it stays; the
// worker's record goes all the same. An error says that the record has to stay: the machine
// of the workspace can't be reached, and a later call may remove it.
func (k *Killer) cleanWorkspace(ctx context.Context, rec registry.Record, req CleanRequest, out *Outcome) error {
	path := rec.Workspace.Location()
	res, err := k.RemoveWorkspace(swarm.WithWarnings(ctx, out.warnedOf(rec.Name)), &rec, req.ForceDirty)
	out.Notices = append(out.Notices, Rescued(rec.Name, res.Rescues)...)
	out.Notices = append(out.Notices, strayed(&rec, res)...)
	switch {
	case err != nil && rec.Workspace.Host != "":
		return fmt.Errorf("its workspace %s stays: %w", path, err)
	case err != nil:
		out.Warnings = append(out.Warnings, preserved(&rec, err.Error()))
		out.keptAt = keptAt(&rec, err.Error())
	case res.Kept != nil:
		out.Warnings = append(out.Warnings, preserved(&rec, res.Kept.Reason))
		out.keptAt = keptAt(&rec, res.Kept.Reason)
	default:
		out.WorkspaceRemoved = true
		out.Worker.Workspace = nil
	}
	return nil
}

// preserved returns the warning that a workspace stays: why, and where it is, since the record that
// knew is gone. The reason names the place of a workspace that was moved.
func preserved(rec *registry.Record, reason string) worker.Warning {
	w := worker.Warning{Text: fmt.Sprintf("preserving worktree for '%s': %s", rec.Name, reason)}
	if ws := rec.Workspace; ws.Host != "" || !isGone(ws.Path) {
		w.Hint = fmt.Sprintf("the workspace is %s", ws.Location())
	}
	return w
}

// keptAt returns what the history says about the place of a workspace that stays. It is not where the
// record says if it was moved; then the reason names the place.
func keptAt(rec *registry.Record, reason string) string {
	if ws := rec.Workspace; ws.Host != "" || !isGone(ws.Path) {
		return ws.Location()
	}
	return history.OneLine(reason)
}

func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// strayed names a workspace that another process has moved or deleted.
func strayed(rec *registry.Record, res swarm.RemoveResult) []string {
	if !res.Astray {
		return nil
	}
	return []string{fmt.Sprintf("the workspace of '%s' is not at %s any more; if it was moved, its files stay where they are", rec.Name, rec.Workspace.Location())}
}
