package registry

import (
	"context"
	"fmt"
	"time"
)

// scrubLimit is how long a scrub may wait for others that use the database.
const scrubLimit = 5 * time.Second

// Scrub erases the environments of deleted records from the files of the database:
// nothing is done if no such record was deleted since the last call. Until then
// older copies of them may lie in the log, and in the unused parts of pages.
//
// SQLite's secure_delete erases a row where it lies. It does not erase the copies
// that are left when a full page is split in two, so the table is written anew.
func (r *Registry) Scrub(ctx context.Context) error {
	if !r.erased.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scrubLimit)
	defer cancel()
	err := r.rewriteWorkers(ctx)
	if err == nil {
		err = r.truncateLog(ctx)
	}
	if err != nil {
		r.erased.Store(true)
		return fmt.Errorf("erase deleted records from %s: %w", r.path, r.explain(ctx, err))
	}
	return nil
}

// rewriteWorkers writes all rows of workers into erased pages.
func (r *Registry) rewriteWorkers(ctx context.Context) error {
	// The copy must not reach a file.
	if _, err := r.db.ExecContext(ctx, "PRAGMA temp_store=MEMORY"); err != nil {
		return err
	}
	tx, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	_, err = tx.ExecContext(ctx, `CREATE TEMP TABLE kept AS SELECT * FROM main.workers;
		DELETE FROM main.workers;
		INSERT INTO main.workers SELECT * FROM temp.kept ORDER BY seq;
		DROP TABLE temp.kept`)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// truncateLog writes the log back into the database and empties it.
func (r *Registry) truncateLog(ctx context.Context) error {
	var busy, pages, moved int
	if err := r.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return ErrBusy
	}
	return nil
}
