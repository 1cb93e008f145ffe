package history

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/warn"
)

// expiry returns the time at which an ended worker is to be removed, zero if never.
func (h *History) expiry(ctx context.Context, reg *registry.Registry, r *registry.Record) time.Time {
	keep, err := time.ParseDuration(r.Retain)
	if err != nil || r.State != registry.Stopped {
		return time.Time{}
	}
	if r.Exit != nil && !r.Exit.Time.IsZero() {
		return r.Exit.Time.Add(keep)
	}
	// No process saw the end; the event has the time at which it was found.
	end, err := reg.End(ctx, r.ID)
	if err != nil {
		return time.Time{}
	}
	return end.Time.Add(keep)
}

// Expire removes the workers whose retention time has run out. next is the time at which the
// next one's has ended; zero if there is none.
func (h *History) Expire(ctx context.Context, reg *registry.Registry, now time.Time) (gone []registry.Record, next time.Time, err error) {
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
				continue // another process has removed it
			}
			if err != nil {
				return err
			}
			if err := Leave(ctx, tx, &rec, NewEvent(&rec, Cleaned, "kept for "+rec.Retain, now)); err != nil {
				return err
			}
			removed = append(removed, rec)
		}
		return nil
	})
	return removed, next, err
}

// Vacated removes a worker that need not be kept any longer, and reports whether its name
// is free.
func (h *History) Vacated(ctx context.Context, reg *registry.Registry, rec registry.Record) bool {
	switch {
	case rec.State == registry.Stopped:
		_, _, err := h.Expire(ctx, reg, time.Now())
		warn.If(h.Logger, err, "expired workers can't be removed")
	case rec.State == registry.Running && rec.IsEphemeral() && h.Stale(&rec):
		for _, g := range h.Plugins.Groups([]registry.Record{rec}, registry.Record.IsRunning) {
			_, err := h.CatchUp(ctx, reg, g)
			warn.If(h.Logger, err, "the end of a worker can't be recorded", "worker", rec.Name)
		}
	}
	_, err := reg.Get(ctx, rec.ID)
	return errors.Is(err, registry.ErrNotFound)
}

// Leave deletes a record in a change. Its workspace stays, which an event reports; its run
// directories are removed once no shim uses them.
func Leave(ctx context.Context, tx *registry.Tx, rec *registry.Record, events ...registry.Event) error {
	if rec.Workspace != nil {
		kept := NewEvent(rec, Kept, rec.Workspace.Location(), time.Now())
		events = append([]registry.Event{kept}, events...)
	}
	return LeaveWorkspace(ctx, tx, rec, events...)
}

// LeaveWorkspace is like [Leave], but writes no event about the workspace: the caller
// takes care of it.
func LeaveWorkspace(ctx context.Context, tx *registry.Tx, rec *registry.Record, events ...registry.Event) error {
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

// RemoveEvents is [History.Trim] in the registry of this history, if there is one.
func (h *History) RemoveEvents(ctx context.Context, before time.Time) (removed int, err error) {
	reg, err := h.Store.ToChange(ctx)
	if err != nil || reg == nil {
		return 0, err
	}
	return h.Trim(ctx, reg, before)
}

// Trim removes the events that happened before a time, see
// [registry.Registry.RemoveEvents], and gives the space that they took back to the file system.
// The end of a worker with a run directory stays: it says that the directory may go.
func (h *History) Trim(ctx context.Context, reg *registry.Registry, before time.Time) (removed int, err error) {
	ids, err := h.Dir.RunDirs()
	if err != nil {
		return 0, err
	}
	removed, err = reg.RemoveEvents(ctx, before, ids)
	if err == nil && removed > 0 {
		warn.If(h.Logger, reg.Compact(ctx), "the database can't be made smaller")
	}
	return removed, err
}
