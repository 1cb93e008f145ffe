package history

import (
	"context"
	"errors"
	"io/fs"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
)

// Query says which events to read.
type Query = registry.EventQuery

// Read returns the events that the query selects, the oldest first. It writes nothing:
// an end that nobody recorded yet is not among them. A worker's history may outlive the
// worker; one that the history and the registry do not know is a [store.NotFoundError].
// reg is nil if no registry was ever made.
func Read(ctx context.Context, reg *registry.Registry, q Query) ([]Event, error) {
	if reg == nil {
		return nil, unknown(q)
	}
	events, err := reg.Events(ctx, q)
	if err != nil || len(events) > 0 || q.Worker == "" {
		return events, err
	}
	// The query selects nothing of this worker, or the worker is unknown.
	known, err := reg.Known(ctx, q.Worker)
	if err == nil && !known {
		err = unknown(q)
	}
	return nil, err
}

// unknown returns the error of a query for an unknown worker; nil if it names none.
func unknown(q Query) error {
	if q.Worker == "" {
		return nil
	}
	return &store.NotFoundError{Name: q.Worker}
}

// Departed makes the record of an ephemeral worker that has gone with its end, as
// far as the history knows it. It is a [store.NotFoundError] if a user has removed the
// worker since, or if its exit is not known. Of several workers of that name it is the
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

// Follow calls each with the events in a state directory that the query selects, and
// then with those that follow as they are written, until ctx ends or each returns an error.
func Follow(ctx context.Context, dir string, q Query, each func(Event) error) error {
	f, err := NewFollower(dir)
	if err != nil {
		return err
	}
	defer f.Close()
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
		events, err = f.Next(ctx, q.Worker)
	}
}

// Follower reads a history as it grows.
type Follower struct {
	dir string
	// Changes tells when there may be more events.
	Changes *registry.Changes
	// reg is nil as long as there is no registry.
	reg *registry.Registry
	// last is the sequence number of the last event that was read.
	last int64
}

// NewFollower returns a follower of the history in a state directory. The caller
// closes it.
func NewFollower(dir string) (*Follower, error) {
	c, err := registry.Watch(dir)
	if err != nil {
		return nil, err
	}
	return &Follower{dir: dir, Changes: c}, nil
}

// Close ends the follower.
func (f *Follower) Close() {
	f.Changes.Close()
	if f.reg != nil {
		_ = f.reg.Close()
	}
}

func (f *Follower) first(ctx context.Context, q Query) ([]Event, error) {
	if err := f.open(ctx); err != nil || f.reg == nil {
		return nil, errors.Join(err, unknown(q))
	}
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	events, err := Read(ctx, f.reg, q)
	f.advance(events)
	f.last = max(f.last, last, q.After)
	return events, err
}

// Begin skips the events that are there. Next goes on behind them.
func (f *Follower) Begin(ctx context.Context) error {
	none := 0
	_, err := f.first(ctx, Query{Last: &none})
	return err
}

// Next returns the events that were added since, of one worker or of all with an empty
// name.
func (f *Follower) Next(ctx context.Context, worker string) ([]Event, error) {
	if f.Changes.Replaced() && f.reg != nil {
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
	if err := f.reg.CheckSchema(ctx); err != nil {
		return nil, err
	}
	last, err := f.reg.LastEvent(ctx)
	if err != nil {
		return nil, err
	}
	events, err := f.reg.Events(ctx, registry.EventQuery{Worker: worker, After: f.last})
	if err != nil {
		return nil, err
	}
	f.advance(events)
	// Events of other workers need not be read again; a rebuilt history may be shorter.
	if f.last < last || len(events) == 0 {
		f.last = last
	}
	return events, nil
}

func (f *Follower) advance(events []Event) {
	if n := len(events); n > 0 {
		f.last = max(f.last, events[n-1].Seq)
	}
}

func (f *Follower) open(ctx context.Context) error {
	if f.reg != nil {
		outdated, err := f.reg.Outdated(ctx)
		if err != nil || !outdated {
			return err
		}
		err = f.reg.Close()
		if f.reg = nil; err != nil {
			return err
		}
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
