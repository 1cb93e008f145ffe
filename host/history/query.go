package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
)

// Events returns the events that the query selects, the oldest first. It writes nothing:
// an end that is not recorded yet is not among them. A worker's history may outlive the
// worker; one that the history and the registry do not know is a [store.NotFoundError].
func (h *History) Events(ctx context.Context, q registry.EventQuery) (events []registry.Event, err error) {
	err = h.EachEvent(ctx, q, func(e registry.Event) error {
		events = append(events, e)
		return nil
	})
	return events, err
}

// unknown returns the error of a query for an unknown worker; nil if it names none.
func unknown(q registry.EventQuery) error {
	if q.Worker == "" {
		return nil
	}
	return &store.NotFoundError{Name: q.Worker}
}

// Departed makes the record of an ephemeral worker that has gone with its end, as
// far as the history knows it. It is a [store.NotFoundError] if a user has removed the
// worker since, or if its exit is not known. If several workers had that name, it is the
// last one. reg is nil if no registry was ever made.
func Departed(ctx context.Context, reg *registry.Registry, name string) (rec registry.Record, err error) {
	gone := &store.NotFoundError{Name: name}
	if reg == nil {
		return rec, gone
	}
	one := 1
	events, err := reg.Events(ctx, registry.EventQuery{Worker: name, Last: &one})
	if err != nil {
		return rec, err
	}
	if len(events) == 0 || events[0].Kind == Cleaned {
		return rec, gone
	}
	end, err := reg.End(ctx, events[0].ID)
	if errors.Is(err, registry.ErrNotFound) || err == nil && end.Exit == nil {
		return rec, gone
	}
	if err != nil {
		return rec, err
	}
	rec.ID, rec.Name, rec.Retain = end.ID, end.Worker, registry.RetainNone
	rec.State, rec.Exit = registry.Stopped, end.Exit
	return rec, nil
}

// EachEvent is like [History.Events] for any number of events: it calls each with one after the
// other.
func (h *History) EachEvent(ctx context.Context, q registry.EventQuery, each func(registry.Event) error) error {
	reg, err := h.Store.ToRead(ctx)
	if err != nil {
		return err
	}
	return eachEvent(ctx, reg, q, each)
}

func eachEvent(ctx context.Context, reg *registry.Registry, q registry.EventQuery, each func(registry.Event) error) error {
	if reg == nil {
		return unknown(q)
	}
	some := false
	err := reg.EachEvent(ctx, q, func(e registry.Event) error {
		some = true
		return each(e)
	})
	if err != nil || some || q.Worker == "" {
		return err
	}
	// The query selects nothing of this worker, or the worker is unknown.
	known, err := reg.Known(ctx, q.Worker)
	if err == nil && !known {
		err = unknown(q)
	}
	return err
}

// FollowEvents calls each with the events that the query selects, and then with those that
// follow as they are written, until ctx ends or each returns an error. It warns if events were
// removed before it read them.
func (h *History) FollowEvents(ctx context.Context, q registry.EventQuery, each func(registry.Event) error) error {
	f, err := NewFollower(string(h.Dir), h.Store.Warn)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.first(ctx, q, each); err != nil {
		return err
	}
	for {
		if err := f.wait(ctx); err != nil {
			return err
		}
		if err := f.Next(ctx, q.Worker, each); err != nil {
			return err
		}
	}
}

// Follower reads a history as it grows.
type Follower struct {
	dir  string
	warn func(text string)
	// Changes reports when there may be more events.
	Changes *registry.Changes
	// reg is nil as long as there is no registry.
	reg *registry.Registry
	// last is the sequence number of the last event that was read; removed is how far the
	// history had been cut then.
	last, removed int64
}

// NewFollower returns a follower of the history in a state directory, which calls warn if
// events were removed before it read them. The caller closes it.
func NewFollower(dir string, warn func(text string)) (*Follower, error) {
	c, err := registry.Watch(dir)
	if err != nil {
		return nil, err
	}
	if c.Slow != "" {
		warn(c.Slow)
	}
	return &Follower{dir: dir, Changes: c, warn: warn}, nil
}

// Close ends the follower.
func (f *Follower) Close() {
	f.Changes.Close()
	if f.reg != nil {
		_ = f.reg.Close()
	}
}

func (f *Follower) first(ctx context.Context, q registry.EventQuery, each func(registry.Event) error) error {
	if err := f.open(ctx); err != nil || f.reg == nil {
		return errors.Join(err, unknown(q))
	}
	var err error
	if f.removed, err = f.reg.RemovedEvents(ctx); err != nil {
		return err
	}
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return err
	}
	f.last = max(last, q.After)
	return eachEvent(ctx, f.reg, q, f.read(each))
}

// read returns a function that notes how far the events were read, and calls each.
func (f *Follower) read(each func(registry.Event) error) func(registry.Event) error {
	return func(e registry.Event) error {
		f.last = max(f.last, e.Seq)
		return each(e)
	}
}

// Begin skips the events that are there. Next continues behind them.
func (f *Follower) Begin(ctx context.Context) error {
	none := 0
	return f.first(ctx, registry.EventQuery{Last: &none}, nil)
}

// Next calls each with the events that were added since, of one worker or of all with an empty
// name.
func (f *Follower) Next(ctx context.Context, worker string, each func(registry.Event) error) error {
	if f.Changes.Replaced() && f.reg != nil {
		err := f.reg.Close()
		if f.reg = nil; err != nil {
			return err
		}
	}
	err := f.open(ctx)
	if errors.Is(err, registry.ErrMissing) {
		return nil // a rebuild is about to put another one there
	}
	if err != nil || f.reg == nil {
		return err
	}
	if err := f.reg.CheckSchema(ctx); err != nil {
		return err
	}
	removed, err := f.reg.RemovedEvents(ctx)
	if err != nil {
		return err
	}
	if removed > max(f.removed, f.last) {
		f.warn(Overtaken(removed))
	}
	f.removed = removed
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return err
	}
	if last < f.last {
		f.last = last // a rebuilt history may be shorter
		return nil
	}
	if err := f.reg.EachEvent(ctx, registry.EventQuery{Worker: worker, After: f.last}, f.read(each)); err != nil {
		return err
	}
	f.last = max(f.last, last) // events of other workers need not be read again
	return nil
}

// Overtaken says that events up to that place in the history were removed before they were
// read.
func Overtaken(seq int64) string {
	return fmt.Sprintf("events up to number %d were removed from the history before they were read here", seq)
}

func (f *Follower) open(ctx context.Context) error {
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

func (f *Follower) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-f.Changes.Failed: // nil once it is closed
		return err
	case <-f.Changes.C:
		return nil
	}
}
