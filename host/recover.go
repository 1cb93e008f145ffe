package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// recoverLimit is how long a call may spend on what others left behind.
const recoverLimit = 10 * time.Second

// recoverBackend settles all interrupted spawns of a backend that was started for
// another reason. The next call settles the rest.
func (h *Host) recoverBackend(ctx context.Context, reg *registry.Registry, p *backend.Peer, backend string) {
	ctx, cancel := context.WithTimeout(ctx, recoverLimit)
	defer cancel()
	recs, _, err := reg.Read(ctx, registry.Query{State: registry.Starting, Backend: backend})
	if err != nil {
		h.log.Warn("interrupted spawns can't be read", "backend", backend, "error", err)
		return
	}
	for _, rec := range recs {
		unlock, err := h.dir.TryLock(rec.ID)
		if err == nil && unlock == nil {
			continue // its spawn is under way
		}
		if err == nil {
			err = h.settle(ctx, reg, p, rec.ID)
			unlock()
		}
		if err != nil {
			h.log.Warn("an interrupted spawn can't be settled", "worker", rec.Name, "backend", backend, "error", err)
		}
	}
}

// settle ends the interruption of a spawn, whose lock the caller holds: a worker
// that its backend finds is adopted, another spawn has failed.
func (h *Host) settle(ctx context.Context, reg *registry.Registry, p *backend.Peer, id string) error {
	rec, err := reg.Get(ctx, id)
	if err != nil || rec.State != registry.Starting {
		return registry.IgnoreNotFound(err) // its spawn was over before the lock was free
	}
	handle, err := h.findStarted(ctx, p, &rec)
	if err != nil && !errors.Is(err, swarm.ErrNotFound) {
		return err
	}
	found := err == nil
	workspace := rec.Workspace
	if rec.Ask != nil && workspace == nil {
		e, err := h.plugins.Entry(rec.Ask.Plugin, rec.Ask.Config)
		if err != nil {
			return err
		}
		if workspace, err = h.plugins.FindWorkspace(ctx, e, backend.WorkspaceSpec(&rec)); err != nil {
			return err
		}
	}
	h.log.Info("settling an interrupted spawn", "worker", rec.Name, "backend", rec.Backend, "found", found)
	if !found && rec.Replaces != nil {
		return h.restore(ctx, reg, &rec, workspace)
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		r, err := tx.Get(ctx, id)
		if err != nil {
			return err
		}
		if err := succeed(ctx, tx, &r, r.Replaces); err != nil {
			return err
		}
		r.Workspace, r.Step, r.Replaces = workspace, "", nil
		if workspace != nil {
			r.Dir = dirIn(r.Ask, workspace)
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
func (h *Host) findStarted(ctx context.Context, p *backend.Peer, rec *registry.Record) (swarm.Handle, error) {
	if rec.Step != registry.StepBackend {
		return swarm.Handle{}, swarm.ErrNotFound // the backend was not asked yet
	}
	if !p.Has(swarm.CapFind) {
		return swarm.Handle{}, fmt.Errorf("backend '%s' cannot tell whether the worker was started: %w", rec.Backend, swarm.ErrUnsupported)
	}
	handle, err := h.plugins.Find(ctx, p, rec)
	if !errors.Is(err, swarm.ErrNotFound) {
		return handle, err
	}
	if rerr := h.dir.DropUnstarted(rec.ID); rerr != nil {
		return handle, rerr
	}
	return handle, err
}
