package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// EventKind is what happened to a worker, in the words of package history. Readers keep
// kinds that they do not know.
type EventKind string

// Event is something that happened to a worker. It outlives the worker's record.
type Event struct {
	// Seq is its place in the history, which is their only order; 0 for one that is to be
	// added at the end.
	Seq int64
	// Time is when it happened, which may be long before it was written.
	Time time.Time
	// ID and Worker are the worker's id and name.
	ID, Worker string
	Kind       EventKind
	// Text is one line, or empty.
	Text string
	// Final says that it is the end of this worker; a worker has one final event.
	Final bool
	// Previous is the id of the worker whose place this one took in a respawn, or empty.
	Previous string
	// Exit is set with an end whose exit is known.
	Exit *swarm.Exit
	// Tags are those that the worker had.
	Tags []string
}

// String returns the event as people read it: "[w] COMPLETE: all tests pass".
func (e Event) String() string {
	if e.Text == "" {
		return fmt.Sprintf("[%s] %s", e.Worker, e.Kind)
	}
	return fmt.Sprintf("[%s] %s: %s", e.Worker, e.Kind, e.Text)
}

// Append adds events to the history, in their order, and returns how many. A
// final event of a worker that has one already is left out.
func (t *Tx) Append(ctx context.Context, events ...Event) (added int, err error) {
	if t.event == nil {
		t.event, err = t.tx.PrepareContext(ctx, "INSERT OR IGNORE INTO events ("+eventColumns+") VALUES ("+numbered(eventColumns)+")")
		if err != nil {
			return 0, err
		}
	}
	for _, e := range events {
		res, err := t.event.ExecContext(ctx, e.fields()...)
		if err != nil {
			return added, fmt.Errorf("write the history of '%s': %w", e.Worker, err)
		}
		if n, err := res.RowsAffected(); err == nil && n > 0 {
			added++
		}
	}
	return added, nil
}

// LastEvent returns the newest event of the worker with that id that is of one of the
// kinds; its zero value if there is none.
func (t *Tx) LastEvent(ctx context.Context, id string, kinds ...EventKind) (Event, error) {
	ofKind, args := oneOf("kind", kinds)
	e, err := scan[Event](t.tx.QueryRowContext(ctx, "SELECT "+eventColumns+" FROM events WHERE worker_id = ? AND "+ofKind+" ORDER BY seq DESC LIMIT 1",
		append([]any{id}, args...)...))
	return e, IgnoreNotFound(orNotFound(err))
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
	// First is how many to return at most, the oldest ones; 0: all.
	First int
}

// Events returns events in their order.
func (r *Registry) Events(ctx context.Context, q EventQuery) ([]Event, error) {
	q, err := r.since(ctx, q)
	if err != nil {
		return nil, err
	}
	query, args := q.query()
	return r.events(ctx, query, args...)
}

func (q EventQuery) query() (query string, args []any) {
	if query, args = q.selected(eventColumns); q.Last != nil {
		query, args = "SELECT * FROM ("+query+" ORDER BY seq DESC LIMIT ?)", append(args, max(0, *q.Last))
	}
	query += " ORDER BY seq"
	if q.First > 0 {
		query, args = query+" LIMIT ?", append(args, q.First)
	}
	return query, args
}

// selected returns the query of the selected events without their order and their number.
// SQLite must not use the index on times for it, which has another order: each page of
// events would be sorted anew.
func (q EventQuery) selected(columns string) (query string, args []any) {
	const since = " AND +time_ns >= ?"
	at := q.Since.UnixNano()
	switch {
	case q.Worker != "" && q.First > 0 && q.Last == nil:
		// Each half is a seek in an index that has the order of seq.
		half := func(column string) string {
			one := "SELECT seq FROM events WHERE " + column + " = ? AND seq > ?"
			args = append(args, q.Worker, q.After)
			if !q.Since.IsZero() {
				one, args = one+since, append(args, at)
			}
			args = append(args, q.First)
			return "SELECT seq FROM (" + one + " ORDER BY seq LIMIT ?)"
		}
		return "SELECT " + columns + " FROM events WHERE seq IN (" + half("worker") + " UNION " + half("worker_id") + ")", args
	case q.Worker != "":
		query, args = "SELECT "+columns+" FROM events WHERE seq > ? AND (worker = ? OR worker_id = ?)", []any{q.After, q.Worker, q.Worker}
	default:
		query, args = "SELECT "+columns+" FROM events WHERE seq > ?", []any{q.After}
	}
	if !q.Since.IsZero() {
		query, args = query+since, append(args, at)
	}
	return query, args
}

const eventColumns = "seq, time_ns, worker_id, worker, kind, text, final, previous, exit, tags"

func (e *Event) fields() []any {
	return []any{
		&e.Seq, (*stamp)(&e.Time), &e.ID, &e.Worker, &e.Kind, &e.Text, &e.Final, &e.Previous,
		optional[*swarm.Exit]{&e.Exit, true}, // the text says what there is to say
		optional[[]string]{&e.Tags, true},
	}
}

func (r *Registry) events(ctx context.Context, query string, args ...any) ([]Event, error) {
	events, err := all(ctx, r.db, scan[Event], query, args...)
	return events, r.explain(ctx, err)
}

const endOf = "SELECT " + eventColumns + " FROM events WHERE worker_id = ? AND final"

// End returns the event that is the end of the worker with that id:
// [ErrNotFound] if there is none.
func (r *Registry) End(ctx context.Context, id string) (Event, error) {
	e, err := scan[Event](r.db.QueryRowContext(ctx, endOf, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("the end of %s: %w", id, ErrNotFound)
	}
	return e, r.explain(ctx, err)
}

const isKnown = `SELECT EXISTS (SELECT 1 FROM events WHERE worker = ?1 OR worker_id = ?1)
	OR EXISTS (SELECT 1 FROM workers WHERE name = ?1 OR id = ?1)`

// Known reports whether there is a worker of that name or id, or was one that the
// history reports.
func (r *Registry) Known(ctx context.Context, worker string) (known bool, err error) {
	err = r.db.QueryRowContext(ctx, isKnown, worker).Scan(&known)
	return known, r.explain(ctx, err)
}

// EventNames returns the names of the workers that the history knows, sorted.
func (r *Registry) EventNames(ctx context.Context) ([]string, error) {
	return r.texts(ctx, "SELECT DISTINCT worker FROM events ORDER BY worker")
}

// LastEvent returns the sequence number of the newest event, 0 if there was none. The event
// may have been removed since.
func (r *Registry) LastEvent(ctx context.Context) (seq int64, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT max(coalesce((SELECT max(seq) FROM events), 0), ("+removedEvents+"))").Scan(&seq)
	return seq, r.explain(ctx, err)
}
