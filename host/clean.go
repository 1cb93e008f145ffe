package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CleanRequest says how to clean.
type CleanRequest struct {
	// KeepWorkspace leaves the workspaces where they are.
	KeepWorkspace bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Done is called with each outcome in the order of the selection; nil:
	// nobody.
	Done func(CleanOutcome)
}

// CleanOutcome says what came of the cleaning of one worker.
type CleanOutcome struct {
	Worker Worker
	// Err is nil if the worker's record is gone. [ErrRunning] if it runs.
	Err error
	// Warnings are about this worker's workspace.
	Warnings []Warning
	// Notices are as in [KillOutcome].
	Notices []string
	// WorkspaceRemoved is as in [KillOutcome].
	WorkspaceRemoved bool
}

// Clean removes stopped workers with their workspaces, run directories and records. With
// All or Tag it skips running workers; a running worker that is named is an [ErrRunning] in
// its outcome. An unknown name is an [ErrNotFound], and nothing was touched then, nor if
// one of them is of a team that the caller does not lead.
func (h *Host) Clean(ctx context.Context, sel Selection, req CleanRequest) ([]CleanOutcome, error) {
	recs, _, err := h.chooseNamed(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := h.mayEnd(ctx, recs...); err != nil {
		return nil, err
	}
	if recs, err = h.history.WithoutEnded(ctx, recs, len(sel.Names) > 0); err != nil {
		return nil, err
	}
	selected := slices.Clone(recs)
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() {
		if reg, err := h.store.Writing(ctx); err == nil { // else it is said of each worker
			h.history.Reconcile(ctx, reg, func(id string) bool { return registry.IndexOf(selected, id) >= 0 })
		}
	})
	outcomes := make([]CleanOutcome, len(recs))
	skip := make([]bool, len(recs))
	var wg sync.WaitGroup
	for i, r := range recs {
		if r.State == registry.Starting && !h.dir.Locked(r.ID) {
			wg.Go(func() {
				if now, err := h.settled(ctx, r); err == nil {
					recs[i] = now
				}
			})
		}
	}
	wg.Wait()
	for i, w := range h.observe(ctx, recs) {
		out := &outcomes[i]
		out.Worker = w
		switch {
		case w.Gone():
			wg.Go(func() { h.cleanOne(ctx, recs[i], req, out) })
		case w.Status == StatusUnknown:
			out.Err = fmt.Errorf("cannot clean worker '%s': %s", w.Name, w.Reason)
		case w.Status == StatusStarting && w.Reason != "":
			out.Err = fmt.Errorf("cannot clean worker '%s': its %s", w.Name, w.Reason)
		default:
			out.Err = &runningError{name: w.Name}
			skip[i] = len(sel.Names) == 0
		}
	}
	wg.Wait()
	var told []CleanOutcome
	for i, out := range outcomes {
		if skip[i] {
			continue
		}
		told = append(told, out)
		if req.Done != nil {
			req.Done(out)
		}
	}
	return told, nil
}

// cleanOne removes one worker that has ended.
func (h *Host) cleanOne(ctx context.Context, rec registry.Record, req CleanRequest, out *CleanOutcome) {
	if err := h.cleanLocked(ctx, rec, req, out); err != nil {
		out.Err = fmt.Errorf("cannot clean worker '%s': %w", rec.Name, err)
	}
}

func (h *Host) cleanLocked(ctx context.Context, rec registry.Record, req CleanRequest, out *CleanOutcome) error {
	unlock, err := h.dir.Lock(ctx, rec.ID)
	if err != nil {
		return err
	}
	defer unlock()
	reg, now, err := h.recordCleaned(ctx, rec, out.Worker)
	if errors.Is(err, registry.ErrFull) {
		// The output is removed anyway, and may be what fills the disk.
		if err = h.dir.DropOutput(rec.ID); err == nil {
			reg, now, err = h.recordCleaned(ctx, rec, out.Worker)
		}
	}
	if errors.Is(err, ErrNotFound) {
		return nil // somebody else has just cleaned it
	}
	if err != nil {
		return err
	}
	switch {
	case now.Workspace == nil:
	case req.KeepWorkspace:
		out.Notices = append(out.Notices, fmt.Sprintf("the worktree of '%s' stays: %s", now.Name, now.Workspace.Path))
	default:
		h.cleanWorkspace(ctx, now, req, out)
	}
	for _, id := range append(now.Previous, rec.ID) {
		if err := os.RemoveAll(h.dir.RunDir(id)); err != nil {
			return err
		}
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		events := []registry.Event{history.NewEvent(&now, history.Cleaned, "", time.Now())}
		if now.Workspace != nil && !out.WorkspaceRemoved {
			events = append([]registry.Event{history.NewEvent(&now, history.Kept, now.Workspace.Path, time.Now())}, events...)
		}
		err := errors.Join(tx.Delete(ctx, rec.ID), tx.Forget(ctx, rec.ID), team.WorkerCleaned(ctx, tx, &now))
		if err != nil {
			return err
		}
		_, err = tx.Append(ctx, events...)
		return err
	})
}

// recordCleaned records the end of a worker that is to be cleaned. Without its
// run directory a worker whose end is not recorded would be lost, should that be
// the last that happens.
func (h *Host) recordCleaned(ctx context.Context, rec registry.Record, w Worker) (*registry.Registry, registry.Record, error) {
	reg, err := h.store.Writing(ctx)
	if err != nil {
		return nil, rec, err
	}
	now, err := store.Reread(ctx, reg, rec)
	if err == nil && now.State != registry.Stopped {
		end := swarm.Status{
			State: swarm.StateLost, Started: w.Started, Where: w.Where, Exit: w.Exit, Reason: w.Reason,
			Restarts: w.Restarts, Completion: w.Completion,
		}
		n := h.history.Report(ctx, rec, end)
		n.DropsWorkspace = true // what becomes of it is told with the cleaning
		_, err = h.history.Write(ctx, reg, []history.Report{n})
	}
	return reg, now, err
}

// cleanWorkspace removes the workspace of a worker, or says why it stays; the
// worker's record goes all the same.
func (h *Host) cleanWorkspace(ctx context.Context, rec registry.Record, req CleanRequest, out *CleanOutcome) {
	path := rec.Workspace.Path
	res, err := h.plugins.RemoveWorkspace(ctx, &rec, req.ForceDirty)
	out.Notices = append(out.Notices, rescued(rec.Name, res.Rescues)...)
	switch {
	case err != nil:
		out.Warnings = append(out.Warnings, preserving(rec.Name, err.Error(), path))
	case res.Kept != nil:
		out.Warnings = append(out.Warnings, preserving(rec.Name, res.Kept.Reason, path))
	default:
		out.WorkspaceRemoved = true
		out.Worker.Workspace = nil
	}
}

// preserving says why a worktree stays, and where it is: the record that knew is gone.
func preserving(name, reason, path string) Warning {
	return Warning{
		Text: fmt.Sprintf("preserving worktree for '%s': %s", name, reason),
		Hint: fmt.Sprintf("the worktree is %s", path),
	}
}

// runningError names a worker that can't be cleaned.
type runningError struct{ name string }

func (e *runningError) Error() string {
	return fmt.Sprintf("cannot clean running worker '%s'", e.name)
}
func (e *runningError) Is(target error) bool { return target == ErrRunning }
