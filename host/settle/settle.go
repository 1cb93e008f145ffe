package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// recoverLimit is how long a call may spend on what others left behind.
const recoverLimit = 10 * time.Second

// Recover settles all interrupted spawns of a backend that was started
// for another reason. A spawn that can't be settled now is left to the next call.
func (s *Settler) Recover(ctx context.Context, reg *registry.Registry, p *backend.Peer, name string) {
	ctx, cancel := p.Within(ctx, recoverLimit)
	defer cancel()
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Starting, Backend: name})
	if err != nil {
		s.Logger.Warn("interrupted spawns can't be read", "backend", name, "error", err)
		return
	}
	for _, rec := range recs {
		unlock, err := s.Dir.TryLock(rec.ID)
		if err == nil && unlock == nil {
			continue // its spawn is under way
		}
		if err == nil {
			err = s.settle(ctx, reg, p, rec.ID)
			unlock()
		}
		warn.If(s.Logger, err, "an interrupted spawn can't be settled", "worker", rec.Name, "backend", name)
	}
}

// settle ends the interruption of a spawn, whose lock the caller holds: a worker
// that its backend finds is adopted, another spawn has failed.
func (s *Settler) settle(ctx context.Context, reg *registry.Registry, p *backend.Peer, id string) error {
	rec, err := reg.Get(ctx, id)
	if err != nil || rec.State != registry.Starting {
		return registry.IgnoreNotFound(err) // its spawn had ended before the lock was free
	}
	handle, err := s.findStarted(ctx, p, &rec)
	if err != nil && !errors.Is(err, swarm.ErrNotFound) {
		return err
	}
	found := err == nil
	if found && rec.Step == registry.StepUndo {
		if err := EndMade(ctx, p, handle); err != nil {
			return err
		}
		found = false
	}
	workspace := rec.Workspace
	if rec.Ask != nil && workspace == nil {
		e, err := s.Plugins.WorkspaceEntry(&rec)
		if err != nil {
			return err
		}
		if workspace, err = s.Plugins.FindWorkspace(ctx, e, backend.WorkspaceSpec(&rec)); err != nil {
			return err
		}
	}
	s.Logger.Info("settling an interrupted spawn", "worker", rec.Name, "backend", rec.Backend, "found", found)
	if !found && rec.Replaces != nil {
		return s.restore(ctx, reg, &rec, workspace)
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		r, err := tx.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := Succeed(ctx, tx, &r, r.Replaces); err != nil {
			return err
		}
		r.Workspace, r.Step, r.Replaces = workspace, "", nil
		if workspace != nil {
			r.Dir = backend.DirIn(r.Ask, workspace)
		}
		event := history.SpawnedEvent(&r, swarm.Status{})
		if found {
			r.State, r.Handle = registry.Running, handle
			err = team.WorkerAdopted(ctx, tx, &r)
		} else {
			r.State, r.Reason = registry.Stopped, history.ReasonInterrupted
			event = history.NewEvent(&r, history.Failed, history.ReasonInterrupted, time.Now())
			event.Final = true
			_, err = team.Ended(ctx, tx, r.ID, team.End{Reason: history.ReasonInterrupted}, event.Time)
		}
		if err != nil {
			return err
		}
		if r.IsEphemeral() && !found {
			return history.Leave(ctx, tx, &r, event)
		}
		if err := tx.Put(ctx, &r); err != nil {
			return err
		}
		_, err = tx.Append(ctx, event)
		return err
	})
}

// findStarted returns the handle of a worker whose spawn was interrupted, or
// [swarm.ErrNotFound], after which it will never come to life.
func (s *Settler) findStarted(ctx context.Context, p *backend.Peer, rec *registry.Record) (swarm.Handle, error) {
	if rec.Step != registry.StepBackend && rec.Step != registry.StepUndo {
		return swarm.Handle{}, swarm.ErrNotFound // the backend was not asked yet
	}
	if !rec.Handle.IsZero() {
		return rec.Handle, nil
	}
	if !p.Has(swarm.CapFind) {
		return swarm.Handle{}, fmt.Errorf("backend '%s' cannot report whether the worker was started: %w", rec.Backend, swarm.ErrUnsupported)
	}
	handle, err := s.Plugins.Find(ctx, p, rec)
	if !errors.Is(err, swarm.ErrNotFound) {
		return handle, err
	}
	if rerr := s.Dir.DropUnstarted(rec.ID); rerr != nil {
		return handle, rerr
	}
	return handle, err
}

// settleLimit is how long to wait for the spawn of a worker to be over.
const settleLimit = 30 * time.Second

// Settled returns the record of a worker that was starting once its spawn has ended, and
// settles a spawn that was interrupted.
func (s *Settler) Settled(ctx context.Context, rec registry.Record) (registry.Record, error) {
	limited, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	unlock, err := s.Dir.Lock(limited, rec.ID)
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: its spawn is still under way", swarm.ErrUnavailable)
		}
		return rec, err
	}
	defer unlock()
	reg, err := s.Store.ToWrite(ctx)
	if err != nil {
		return rec, err
	}
	now, err := store.Restored(ctx, reg, rec)
	if err != nil || now.State != registry.Starting {
		return now, err
	}
	err = s.Plugins.AskOwner(limited, &rec, true, func(p *backend.Peer) error { return s.settle(limited, reg, p, rec.ID) })
	if err != nil {
		return rec, fmt.Errorf("its spawn was interrupted: %w", err)
	}
	return store.Restored(ctx, reg, rec)
}
