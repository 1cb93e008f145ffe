package registry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Event is something that happened to a worker.
type Event struct {
	// Seq is its place in the history; set by the registry.
	Seq int64
	// Time is when it happened.
	Time time.Time
	// ID and Worker are the worker's id and name.
	ID, Worker string
	Kind, Text string
	// Final says that it is the end of this worker.
	Final bool
	// Previous is the id of the worker whose place this one took, or empty.
	Previous string
}

// Append adds events to the history, in their order, and returns how many. A
// final event of a worker that has one already is left out.
func (t *Tx) Append(ctx context.Context, events ...Event) (added int, err error) {
	if t.event == nil {
		t.event, err = t.tx.PrepareContext(ctx, `INSERT OR IGNORE INTO events
			(time_ns, worker_id, worker, kind, text, final, previous) VALUES (?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return 0, err
		}
	}
	for _, e := range events {
		res, err := t.event.ExecContext(ctx, nanos(e.Time), e.ID, e.Worker, e.Kind, e.Text, e.Final, e.Previous)
		if err != nil {
			return added, fmt.Errorf("write the history of '%s': %w", e.Worker, err)
		}
		if n, err := res.RowsAffected(); err == nil && n > 0 {
			added++
		}
	}
	return added, nil
}

// EventQuery says which events to read. Its zero value means all.
type EventQuery struct {
	// Worker is the name or the id of the only worker to read.
	Worker string
	// Since leaves out what happened before.
	Since time.Time
	// After leaves out the events up to that place in the history.
	After int64
	// Last is how many to return at most, the newest ones; nil: all.
	Last *int
}

// Events returns events in their order.
func (r *Registry) Events(ctx context.Context, q EventQuery) (events []Event, err error) {
	query := "SELECT seq, time_ns, worker_id, worker, kind, text, final, previous FROM events WHERE seq > ?"
	args := []any{q.After}
	if q.Worker != "" {
		query, args = query+" AND (worker = ? OR worker_id = ?)", append(args, q.Worker, q.Worker)
	}
	if !q.Since.IsZero() {
		query, args = query+" AND time_ns >= ?", append(args, q.Since.UnixNano())
	}
	if q.Last != nil {
		query, args = "SELECT * FROM ("+query+" ORDER BY seq DESC LIMIT ?)", append(args, max(0, *q.Last))
	}
	rows, err := r.db.QueryContext(ctx, query+" ORDER BY seq", args...)
	if err != nil {
		return nil, explain(r.path, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Event
		var at int64
		if err := rows.Scan(&e.Seq, &at, &e.ID, &e.Worker, &e.Kind, &e.Text, &e.Final, &e.Previous); err != nil {
			return nil, explain(r.path, err)
		}
		e.Time = when(at)
		events = append(events, e)
	}
	return events, explain(r.path, rows.Err())
}

// LastEvent returns the place of the newest event, 0 if there is none.
func (r *Registry) LastEvent(ctx context.Context) (seq int64, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM events").Scan(&seq)
	return seq, explain(r.path, err)
}
