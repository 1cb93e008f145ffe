package host

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

// EventQuery says which events to read. Its zero value means all.
type EventQuery struct {
	// Worker is the name or the id of the only worker to read.
	Worker string
	// Since leaves out what happened before.
	Since time.Time
	// Lines is how many to return at most, the newest ones; nil: all.
	Lines *int
	// After leaves out the events up to that place in the history.
	After int64
}

// Events returns what happened, the oldest first. It writes nothing: an end that
// nobody recorded yet is not among them. A worker's history may outlive it; one
// of which nothing at all is known is [ErrNotFound].
func (h *Host) Events(ctx context.Context, q EventQuery) ([]history.Event, error) {
	reg, err := h.store.Reading(ctx)
	if err != nil {
		return nil, err
	}
	if reg == nil {
		return nil, q.unknown()
	}
	return q.read(ctx, reg)
}

// unknown is the error of a query for a worker that nobody knows.
func (q EventQuery) unknown() error {
	if q.Worker == "" {
		return nil
	}
	return &NotFoundError{Name: q.Worker}
}

func (q EventQuery) read(ctx context.Context, reg *registry.Registry) ([]history.Event, error) {
	stored, err := reg.Events(ctx, registry.EventQuery{Worker: q.Worker, Since: q.Since, Last: q.Lines, After: q.After})
	if err != nil {
		return nil, err
	}
	if len(stored) == 0 && q.Worker != "" {
		// Nothing of it was asked for, or there is nothing of it.
		known, err := reg.Known(ctx, q.Worker)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, q.unknown()
		}
	}
	events := make([]history.Event, len(stored))
	for i, e := range stored {
		events[i] = history.FromRow(e)
	}
	return events, nil
}

// FollowEvents calls each with the events that the query selects, and then with
// those that follow as they are written, until ctx ends or each returns an error.
func (h *Host) FollowEvents(ctx context.Context, q EventQuery, each func(history.Event) error) error {
	f, err := h.follow()
	if err != nil {
		return err
	}
	defer f.close()
	events, err := f.first(ctx, q)
	for {
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := each(e); err != nil {
				return err
			}
		}
		if err := f.wait(ctx); err != nil {
			return err
		}
		events, err = f.next(ctx, q.Worker)
	}
}

// follower reads a history as it grows.
type follower struct {
	dir     string
	changes *registry.Changes
	// reg is nil as long as there is no registry.
	reg *registry.Registry
	// last is the place of the last event that was read.
	last int64
}

func (h *Host) follow() (*follower, error) {
	c, err := registry.Watch(h.opts.Dir)
	if err != nil {
		return nil, err
	}
	return &follower{dir: h.opts.Dir, changes: c}, nil
}

func (f *follower) close() {
	f.changes.Close()
	if f.reg != nil {
		_ = f.reg.Close()
	}
}

// first reads what a query selects, and begins behind it.
func (f *follower) first(ctx context.Context, q EventQuery) ([]history.Event, error) {
	if err := f.open(ctx); err != nil || f.reg == nil {
		return nil, errors.Join(err, q.unknown())
	}
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	events, err := q.read(ctx, f.reg)
	f.advance(events)
	f.last = max(f.last, last, q.After)
	return events, err
}

// begin begins behind what is there.
func (f *follower) begin(ctx context.Context) error {
	none := 0
	_, err := f.first(ctx, EventQuery{Lines: &none})
	return err
}

// next reads what was added since.
func (f *follower) next(ctx context.Context, worker string) ([]history.Event, error) {
	if f.changes.Replaced() && f.reg != nil {
		err := f.reg.Close()
		f.reg = nil
		if err != nil {
			return nil, err
		}
	}
	err := f.open(ctx)
	if errors.Is(err, registry.ErrMissing) {
		return nil, nil // a rebuild is about to put another one there
	}
	if err != nil || f.reg == nil {
		return nil, err
	}
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := f.reg.Events(ctx, registry.EventQuery{Worker: worker, After: f.last})
	if err != nil {
		return nil, err
	}
	events := make([]history.Event, len(stored))
	for i, e := range stored {
		events[i] = history.FromRow(e)
	}
	f.advance(events)
	// Those of others need not be looked at again; a history that was made anew
	// may be shorter.
	if f.last < last || len(events) == 0 {
		f.last = last
	}
	return events, nil
}

func (f *follower) advance(events []history.Event) {
	if n := len(events); n > 0 {
		f.last = max(f.last, events[n-1].Seq)
	}
}

func (f *follower) open(ctx context.Context) error {
	if f.reg != nil {
		return nil
	}
	reg, err := registry.OpenReadOnly(ctx, f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.reg = reg
	return err
}

// wait returns when there may be more.
func (f *follower) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err, ok := <-f.changes.Failed:
		if ok {
			return err
		}
		return nil
	case <-f.changes.C:
		return nil
	}
}
