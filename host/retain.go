package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

// expiry is when a worker that has ended is to be removed, zero if never.
func (h *Host) expiry(ctx context.Context, reg *registry.Registry, r *registry.Record) time.Time {
	keep, err := time.ParseDuration(r.Retain)
	if err != nil || r.State != registry.Stopped {
		return time.Time{}
	}
	if r.Exit != nil && !r.Exit.Time.IsZero() {
		return r.Exit.Time.Add(keep)
	}
	// Nobody saw the end; its time is when it was found out.
	end, err := reg.End(ctx, r.ID)
	if err != nil {
		return time.Time{}
	}
	return end.Time.Add(keep)
}

// expire removes the workers whose time is over, and tells when the next one's
// will be; zero if there is none.
func (h *Host) expire(ctx context.Context, reg *registry.Registry, now time.Time) (gone []registry.Record, next time.Time, err error) {
	recs, next, err := reg.Expired(ctx, now)
	if err != nil {
		return nil, next, err
	}
	for _, r := range recs {
		at := h.expiry(ctx, reg, &r)
		switch {
		case at.IsZero():
		case at.After(now):
			if next.IsZero() || at.Before(next) {
				next = at
			}
		default:
			gone = append(gone, r)
		}
	}
	if len(gone) == 0 {
		return nil, next, nil
	}
	var removed []registry.Record
	err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		removed = nil
		for _, r := range gone {
			rec, err := tx.Get(ctx, r.ID)
			if errors.Is(err, registry.ErrNotFound) {
				continue // somebody was quicker
			}
			if err != nil {
				return err
			}
			if err := leave(ctx, tx, &rec, history.NewEvent(&rec, history.Cleaned, "kept for "+rec.Retain, now)); err != nil {
				return err
			}
			removed = append(removed, rec)
		}
		return nil
	})
	return removed, next, err
}

// vacated reports whether a name is free again that a worker had which is kept
// no longer than now, and sees to it.
func (h *Host) vacated(ctx context.Context, reg *registry.Registry, rec registry.Record) bool {
	switch {
	case rec.State == registry.Stopped:
		_, _, err := h.expire(ctx, reg, time.Now())
		h.warnIf(err, "expired workers can't be removed")
	case rec.State == registry.Running && rec.IsEphemeral() && h.stirred(&rec):
		for _, g := range h.plugins.Groups([]registry.Record{rec}, registry.Record.IsRunning) {
			_, err := h.catchUp(ctx, reg, g)
			h.warnIf(err, "the end of a worker can't be recorded", "worker", rec.Name)
		}
	}
	_, err := reg.Get(ctx, rec.ID)
	return errors.Is(err, registry.ErrNotFound)
}

// withoutEnded settles the ephemeral workers of a selection that have ended and
// whose end nobody wrote yet, and leaves them out: they are gone. One that was
// named is an [ErrNotFound].
func (h *Host) withoutEnded(ctx context.Context, sel Selection, recs []registry.Record) ([]registry.Record, error) {
	gs := h.plugins.Groups(recs, func(r registry.Record) bool {
		return r.State == registry.Running && r.IsEphemeral() && h.stirred(&r)
	})
	if len(gs) == 0 {
		return recs, nil
	}
	reg, err := h.store.Writing(ctx)
	if err != nil {
		h.warnIf(err, "the ends of workers can't be recorded")
		return recs, nil // what can be done without is done
	}
	var gone []registry.Record
	for _, g := range gs {
		published, err := h.catchUp(ctx, reg, g)
		h.warnIf(err, "the ends of workers can't be recorded", "backend", g.Name)
		for _, t := range published {
			// One that said that it is done may be alive, and can be killed.
			if t.removed && t.rec.State == registry.Stopped {
				gone = append(gone, t.rec)
			}
		}
	}
	if len(gone) > 0 && len(sel.Names) > 0 {
		return nil, &NotFoundError{Name: gone[0].Name}
	}
	h.tidy(ctx, reg, func(id string) bool { return registry.IndexOf(recs, id) >= 0 })
	return slices.DeleteFunc(recs, func(r registry.Record) bool { return registry.IndexOf(gone, r.ID) >= 0 }), nil
}

// leave lets a record go in a change. Its workspace stays, which the history
// tells; its run directories go when they can.
func leave(ctx context.Context, tx *registry.Tx, rec *registry.Record, events ...registry.Event) error {
	if rec.Workspace != nil {
		kept := history.NewEvent(rec, history.Kept, rec.Workspace.Path, time.Now())
		events = append([]registry.Event{kept}, events...)
	}
	return leaveWorkspace(ctx, tx, rec, events...)
}

// leaveWorkspace is leave for a record whose workspace is the caller's business.
func leaveWorkspace(ctx context.Context, tx *registry.Tx, rec *registry.Record, events ...registry.Event) error {
	for _, id := range append(rec.Previous, rec.ID) {
		if err := tx.Leave(ctx, id); err != nil {
			return err
		}
	}
	if err := tx.Delete(ctx, rec.ID); err != nil {
		return err
	}
	_, err := tx.Append(ctx, events...)
	return err
}
