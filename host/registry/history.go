package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// eventPage is how many events are read at a time. No transaction stays open while a reader
// works on them: an old one would keep the log of the database from being written back.
const eventPage = 512

// EachEvent calls each with the events that [Registry.Events] would return, in their order, and
// needs the same memory however many there are. It leaves out events that are written
// meanwhile. It ends with the first error.
func (r *Registry) EachEvent(ctx context.Context, q EventQuery, each func(Event) error) error {
	last, err := r.LastEvent(ctx)
	if err != nil {
		return err
	}
	if q, err = r.begins(ctx, q); err != nil || q.Last != nil && *q.Last <= 0 {
		return err
	}
	left := q.First // 0: all
	for q.Last = nil; q.After < last; {
		q.First = eventPage
		if left > 0 {
			q.First = min(left, eventPage)
		}
		events, err := r.Events(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Seq > last {
				return nil
			}
			if err := each(e); err != nil {
				return err
			}
		}
		if len(events) < q.First {
			return nil
		}
		q.After = events[len(events)-1].Seq
		if left -= len(events); left == 0 {
			return nil
		}
	}
	return nil
}

// since returns the query with the place in the history before its first event, if it leaves out
// what happened before a time. It is a seek in the index on times, and one entry of that for
// each later event.
func (r *Registry) since(ctx context.Context, q EventQuery) (EventQuery, error) {
	if q.Since.IsZero() {
		return q, nil
	}
	first, err := value[sql.NullInt64](r.db.QueryRowContext(ctx, "SELECT min(seq) FROM events WHERE time_ns >= ?", q.Since.UnixNano()))
	q.After = max(q.After, first.Int64-1)
	return q, r.explain(ctx, err)
}

// begins returns the query with its place in the history after which the selected events
// begin, so that pages of it do not look at the events before it again.
func (r *Registry) begins(ctx context.Context, q EventQuery) (EventQuery, error) {
	q, err := r.since(ctx, q)
	if err != nil || q.Last == nil || *q.Last <= 0 {
		return q, err
	}
	query, args := q.selected("seq")
	first, err := value[int64](r.db.QueryRowContext(ctx, "SELECT seq FROM ("+query+") ORDER BY seq DESC LIMIT 1 OFFSET ?", append(args, *q.Last-1)...))
	if errors.Is(err, sql.ErrNoRows) {
		return q, nil // there are fewer
	}
	q.After = max(q.After, first-1)
	return q, r.explain(ctx, err)
}

// RemovedEvents returns how far the history was cut by [Registry.RemoveEvents]: the highest
// sequence number of the events that were removed, 0 if none were. A reader that has read up to
// a lower one was overtaken.
func (r *Registry) RemovedEvents(ctx context.Context) (seq int64, err error) {
	seq, err = value[int64](r.db.QueryRowContext(ctx, removedEvents))
	return seq, r.explain(ctx, err)
}

const removedEvents = "SELECT coalesce(max(removed), 0) FROM history"

// removeAtOnce is how many events are removed in one change, so that other processes are
// not kept from theirs for long.
const removeAtOnce = 5000

// kept are the events that stay whatever their age: of each worker that is recorded its end,
// and the newest event of each kind, which say what its present state follows; and the ends of
// the workers whose ids are in the JSON array.
const kept = `final AND worker_id IN (SELECT value FROM json_each(?)) OR worker_id IN (SELECT id FROM workers)
	AND (final OR NOT EXISTS (SELECT 1 FROM events AS later WHERE later.worker_id = events.worker_id AND later.kind = events.kind AND later.seq > events.seq))`

// RemoveEvents removes the events that happened before a time, and returns how many. The end
// of a worker that is recorded stays, and so does its newest event of each kind. The ends of
// the workers with one of the ids stay too. If it fails, removed says how many are gone all the
// same.
func (r *Registry) RemoveEvents(ctx context.Context, before time.Time, ids []string) (removed int, err error) {
	list, err := json.Marshal(append([]string{}, ids...))
	if err != nil {
		return 0, err
	}
	const old = "FROM events WHERE seq > ? AND +time_ns < ? AND NOT (" + kept + ")"
	for after := int64(0); ; { // without it, each change would look at all kept events again
		n := 0
		err := r.Change(ctx, func(ctx context.Context, tx *Tx) error {
			var upTo sql.NullInt64
			args := []any{after, before.UnixNano(), string(list)}
			err := tx.tx.QueryRowContext(ctx, "SELECT count(*), max(seq) FROM (SELECT seq "+old+" ORDER BY seq LIMIT ?)", append(args, removeAtOnce)...).Scan(&n, &upTo)
			if err != nil || n == 0 {
				return err
			}
			if err := tx.exec(ctx, "DELETE "+old+" AND seq <= ?", append(args, upTo.Int64)...); err != nil {
				return err
			}
			after = upTo.Int64
			return tx.exec(ctx, "INSERT INTO history (id, removed) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET removed = max(removed, excluded.removed)", after)
		})
		if err != nil {
			return removed, err
		}
		if removed += n; n < removeAtOnce {
			return removed, nil
		}
	}
}

// HappenedBetween reports whether anything happened to workers within a time.
func (r *Registry) HappenedBetween(ctx context.Context, begin, end time.Time) (happened bool, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM events WHERE time_ns >= ? AND time_ns < ?)", begin.UnixNano(), end.UnixNano()).Scan(&happened)
	return happened, r.explain(ctx, err)
}

// worthwhile is from how many bytes of unused pages on the database is written anew.
const worthwhile = 4 << 20

// Compact gives the unused pages of the database back to the file system, if most of its
// pages are unused.
func (r *Registry) Compact(ctx context.Context) error {
	var size, pages, unused int64
	err := r.db.QueryRowContext(ctx, "SELECT p.page_size, c.page_count, f.freelist_count FROM pragma_page_size p, pragma_page_count c, pragma_freelist_count f").
		Scan(&size, &pages, &unused)
	if err != nil || unused*2 < pages || unused*size < worthwhile {
		return r.explain(ctx, err)
	}
	if err := r.CheckSchema(ctx); err != nil {
		return err
	}
	if _, err = r.db.ExecContext(ctx, "VACUUM"); err == nil {
		err = r.truncateLog(ctx)
	}
	return r.explain(ctx, err)
}
