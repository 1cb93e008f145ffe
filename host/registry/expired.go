package registry

import (
	"context"
	"fmt"
	"time"
)

// expiring is the condition of workers that have ended and are kept for a time only,
// in the words of the index on them.
var expiring = fmt.Sprintf("state = '%s' AND retain NOT IN ('', '%s')", Stopped, RetainUntilClean)

// The queries of [Registry.Expired], each of one seek in that index.
var (
	nextRetention = "SELECT retain FROM workers WHERE " + expiring + " AND retain > ? ORDER BY retain LIMIT 1"
	nextEnd       = "SELECT ended_ns FROM workers WHERE " + expiring + " AND retain = ? AND ended_ns > ? ORDER BY ended_ns LIMIT 1"
	allExpired    = " WHERE " + expiring + " AND retain = ? AND ended_ns <= ?"
)

// Expired returns the workers whose retention had ended at now, and those that are
// kept for a time but whose end is not known: how long they stay is for the caller to
// say. next is when the next one's retention has ended; zero if there is none. The cost
// grows with what is returned and with the number of different retentions.
func (r *Registry) Expired(ctx context.Context, now time.Time) (recs []Record, next time.Time, err error) {
	for retain := ""; ; {
		if retain, err = value[string](r.db.QueryRowContext(ctx, nextRetention, retain)); err != nil {
			return recs, next, r.explain(ctx, IgnoreNotFound(orNotFound(err)))
		}
		keep, err := time.ParseDuration(retain)
		if err != nil {
			continue // it is [RetainNone], or nothing that this swarm knows
		}
		since := max(0, now.Add(-keep).UnixNano())
		some, _, err := readWhere(ctx, r.db, allExpired, retain, since)
		if err != nil {
			return nil, next, r.explain(ctx, err)
		}
		recs = append(recs, some...)
		ended, err := value[int64](r.db.QueryRowContext(ctx, nextEnd, retain, since))
		if err := IgnoreNotFound(orNotFound(err)); err != nil {
			return nil, next, r.explain(ctx, err)
		}
		if due := when(ended).Add(keep); err == nil && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
}

// Leave remembers that the run directory of a worker is to be removed, whose
// record goes in this change.
func (t *Tx) Leave(ctx context.Context, id string) error {
	return t.exec(ctx, "INSERT OR IGNORE INTO leftovers (worker_id) VALUES (?)", id)
}

// Forget says that the run directory of a worker is gone.
func (t *Tx) Forget(ctx context.Context, id string) error {
	return t.exec(ctx, "DELETE FROM leftovers WHERE worker_id = ?", id)
}

// Leftovers returns the ids of workers whose run directories are to be removed.
func (r *Registry) Leftovers(ctx context.Context) ([]string, error) {
	return r.texts(ctx, "SELECT worker_id FROM leftovers ORDER BY worker_id")
}
