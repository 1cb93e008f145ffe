package registry

import "context"

// Leave remembers that the run directory of a worker is to be removed, whose
// record goes in this change.
func (t *Tx) Leave(ctx context.Context, id string) error {
	_, err := t.tx.ExecContext(ctx, "INSERT OR IGNORE INTO leftovers (worker_id) VALUES (?)", id)
	return err
}

// Forget says that the run directory of a worker is gone.
func (t *Tx) Forget(ctx context.Context, id string) error {
	_, err := t.tx.ExecContext(ctx, "DELETE FROM leftovers WHERE worker_id = ?", id)
	return err
}

// Leftovers returns the ids of workers whose run directories are to be removed.
func (r *Registry) Leftovers(ctx context.Context) ([]string, error) {
	return r.texts(ctx, "SELECT worker_id FROM leftovers ORDER BY worker_id")
}
