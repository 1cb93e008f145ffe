package registry

import (
	"context"
	"time"
)

// Retry is an event of which a hook is to be notified again.
type Retry struct {
	// Seq is the event's place in the history.
	Seq int64
	// Tries is how often the hook's command was run for it.
	Tries int
	// Next is when to run it again.
	Next time.Time
}

// HookNames returns the names of the hooks that have a cursor, sorted.
func (r *Registry) HookNames(ctx context.Context) ([]string, error) {
	return r.texts(ctx, "SELECT name FROM hooks ORDER BY name")
}

// HookCursor returns the cursor of a hook: it was run for the events up to seq, or has
// retries for them. ok is false if it has none yet.
func (r *Registry) HookCursor(ctx context.Context, name string) (seq int64, ok bool, err error) {
	seq, err = value[int64](r.db.QueryRowContext(ctx, "SELECT seq FROM hooks WHERE name = ?", name))
	return seq, err == nil, r.explain(ctx, IgnoreNotFound(orNotFound(err)))
}

// NextRetry returns the retry of a hook that is due first; ok is false if it has none.
func (r *Registry) NextRetry(ctx context.Context, name string) (again Retry, ok bool, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT seq, tries, next_ns FROM hook_retries WHERE hook = ? ORDER BY next_ns, seq LIMIT 1", name).
		Scan(&again.Seq, &again.Tries, (*stamp)(&again.Next))
	return again, err == nil, r.explain(ctx, IgnoreNotFound(orNotFound(err)))
}

func (t *Tx) SetHookCursor(ctx context.Context, name string, seq int64) error {
	return t.exec(ctx, "INSERT INTO hooks (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq", name, seq)
}

// SetRetry writes down that a hook is to be run for an event again, in place of what was
// written down for that event before.
func (t *Tx) SetRetry(ctx context.Context, name string, again Retry) error {
	return t.exec(ctx, "INSERT OR REPLACE INTO hook_retries (hook, seq, tries, next_ns) VALUES (?, ?, ?, ?)",
		name, again.Seq, again.Tries, nanos(again.Next))
}

// DeleteRetry removes the retry of an event, if there is one.
func (t *Tx) DeleteRetry(ctx context.Context, name string, seq int64) error {
	return t.exec(ctx, "DELETE FROM hook_retries WHERE hook = ? AND seq = ?", name, seq)
}

// ForgetHook removes the cursor and the retries of a hook.
func (t *Tx) ForgetHook(ctx context.Context, name string) error {
	if err := t.exec(ctx, "DELETE FROM hook_retries WHERE hook = ?", name); err != nil {
		return err
	}
	return t.exec(ctx, "DELETE FROM hooks WHERE name = ?", name)
}
