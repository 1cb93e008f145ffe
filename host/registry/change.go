package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Tx is one change of the registry, good within [Registry.Change] only.
type Tx struct {
	// Quiet says that no agent is to be woken for the messages and tasks that are added.
	Quiet bool

	tx *sql.Tx
	// The statements are prepared when they are first needed: a crowd's end is one
	// change.
	get, update, finish, event *sql.Stmt
	// erased says that a record with an environment was deleted.
	erased bool
}

// Change runs change in one transaction and returns its result. If that is an error,
// nothing has changed.
func (r *Registry) Change(ctx context.Context, change func(context.Context, *Tx) error) error {
	tx, err := r.begin(ctx)
	if err != nil {
		return explain(r.path, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	t := &Tx{tx: tx}
	if err := change(ctx, t); err != nil {
		return explain(r.path, err)
	}
	if err := tx.Commit(); err != nil {
		return explain(r.path, err)
	}
	if t.erased {
		r.erased.Store(true)
	}
	return nil
}

// Sync waits until the disk has all changes so far, so that they survive a crash of the
// machine. Without it they survive one only after the last process has closed the registry,
// which may be much later.
func (r *Registry) Sync() error {
	// Closing a file drops this process's locks on it. SQLite has none on the log.
	f, err := os.OpenFile(r.path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // everything is in the database
	}
	if err != nil {
		return fmt.Errorf("sync the registry: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync the registry: %w", err)
	}
	return nil
}

// beginLimit is how long a change waits for its turn. Waiting calls form no
// queue: if twenty write all the time on a busy machine, one may have no luck for
// long.
const beginLimit = time.Minute

// begin begins a transaction that writes. SQLite does not hear of a ctx that ends
// while it waits, so it waits for a part of the time only. A schema that a newer swarm has
// made meanwhile is an [ErrNewer]: this version would leave out what that one relies on.
func (r *Registry) begin(ctx context.Context) (*sql.Tx, error) {
	for until := time.Now().Add(beginLimit); ; {
		tx, err := r.db.BeginTx(ctx, nil)
		if err == nil {
			if _, err = schemaOf(ctx, tx, r.path); err != nil {
				return nil, errors.Join(err, tx.Rollback())
			}
			return tx, nil
		}
		if !errors.Is(explain(r.path, err), ErrBusy) || ctx.Err() != nil || time.Now().After(until) {
			return nil, err
		}
	}
}

// View runs look in one transaction that sees the registry at one moment, and returns
// its result. Nothing is changed, whatever look does.
func (r *Registry) View(ctx context.Context, look func(context.Context, *Tx) error) error {
	// One that only reads is not immediate, so it does not wait.
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain(r.path, err)
	}
	defer func() { _ = tx.Rollback() }() // there is nothing to commit
	if _, err := schemaOf(ctx, tx, r.path); err != nil {
		return explain(r.path, err)
	}
	return explain(r.path, look(ctx, &Tx{tx: tx}))
}

// Savepoint runs part of a change and undoes what it did if it fails. The change
// can continue then, but not if there is an err: a full disk ends all of it.
func (t *Tx) Savepoint(ctx context.Context, part func(context.Context) error) (failed, err error) {
	if err := t.exec(ctx, "SAVEPOINT part"); err != nil {
		return nil, err
	}
	if failed = part(ctx); failed != nil {
		if err := t.exec(ctx, "ROLLBACK TO part"); err != nil {
			return failed, errors.Join(failed, err)
		}
	}
	return failed, t.exec(ctx, "RELEASE part")
}

// Insert adds a record. It returns [ErrExists] if there is one of its name.
func (t *Tx) Insert(ctx context.Context, rec *Record) error {
	_, err := t.add(ctx, "workers", written, rec.values())
	if errors.Is(taken(err), ErrExists) {
		return fmt.Errorf("'%s': %w", rec.Name, ErrExists)
	}
	return err
}

// Get returns the record with that id: [ErrNotFound] if there is none.
func (t *Tx) Get(ctx context.Context, id string) (Record, error) {
	if err := t.prepare(ctx); err != nil {
		return Record{}, err
	}
	return get(t.get.QueryRowContext(ctx, id), id)
}

// Put writes a record in the place of the one with its id.
func (t *Tx) Put(ctx context.Context, rec *Record) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	_, err := t.update.ExecContext(ctx, append(rec.values(), rec.ID)...)
	return err
}

// Finish writes what the end of a worker changes in its record, and nothing else,
// if the record is unchanged: the worker runs, has not completed and was restarted as
// often. Else it changes nothing and returns false. It is by far the cheapest way to
// record many ends.
func (t *Tx) Finish(ctx context.Context, rec *Record) (finished bool, err error) {
	if t.finish == nil {
		t.finish, err = t.tx.PrepareContext(ctx, `UPDATE workers SET state = '`+string(Stopped)+`', ended_ns = ?, document = json_set(document,
				'$.step', '', '$.pid', 0, '$.started', ?, '$.place', json(?), '$.exit', json(?), '$.reason', ?)
			WHERE id = ? AND state = '`+string(Running)+`' AND document ->> '$.completion' IS NULL
				AND coalesce(document ->> '$.restarts', 0) = ?`)
		if err != nil {
			return false, err
		}
	}
	res, err := t.finish.ExecContext(ctx, rec.ended(), rec.Started.Format(time.RFC3339Nano), document{rec.Place}, document{rec.Exit}, rec.Reason,
		rec.ID, rec.Restarts)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// Update reads the record with that id, lets change work on it, and writes it
// back: [ErrNotFound] if there is none.
func (t *Tx) Update(ctx context.Context, id string, change func(*Record) error) error {
	rec, err := t.Get(ctx, id)
	if err == nil {
		err = change(&rec)
	}
	if err != nil {
		return err
	}
	return t.Put(ctx, &rec)
}

// prepare prepares the statements of Get and Put, which end with the transaction.
func (t *Tx) prepare(ctx context.Context) (err error) {
	if t.get == nil {
		t.get, err = t.tx.PrepareContext(ctx, getOne)
	}
	if err == nil && t.update == nil {
		t.update, err = t.tx.PrepareContext(ctx, "UPDATE workers SET ("+written+") = ("+marks(written)+") WHERE id = ?")
	}
	return err
}

// Delete removes the record with that id, if there is one.
func (t *Tx) Delete(ctx context.Context, id string) error {
	var secret bool
	// It is a search in the text, which works on a document that can't be read.
	err := t.tx.QueryRowContext(ctx, `DELETE FROM workers WHERE id = ?
		RETURNING instr(document, '"env":[') OR instr(document, '"replaces":{')`, id).Scan(&secret)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	t.erased = t.erased || secret
	return err
}

// Query says which records to read. Its zero value means all.
type Query struct {
	// Names are names or ids.
	Names []string
	// State is the only state to read; empty: all.
	State State
	// Backend is the only backend to read; empty: all.
	Backend string
	// Team is the only team whose workers to read; empty: all, also those of none.
	Team string
	// Shells is for background shells alone.
	Shells bool
}

func (q Query) where() (string, []any) {
	var conds []string
	var args []any
	if len(q.Names) > 0 {
		byName, names := oneOf("name", q.Names)
		byID, ids := oneOf("id", q.Names)
		conds, args = append(conds, "("+byName+" OR "+byID+")"), append(names, ids...)
	}
	if q.State != "" {
		// A literal, so that SQLite can use the indexes on workers of one state.
		conds = append(conds, fmt.Sprintf("state = '%s'", q.State))
	}
	if q.Backend != "" {
		conds, args = append(conds, "backend = ?"), append(args, q.Backend)
	}
	if q.Team != "" {
		conds, args = append(conds, "team = ? AND team <> ''"), append(args, q.Team)
	}
	if q.Shells {
		conds = append(conds, "shell")
	}
	if len(conds) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(conds, " AND "), args
}

// Read returns records in the order of their insertion. A record that can't be
// read is left out and named in warnings.
func (r *Registry) Read(ctx context.Context, q Query) (recs []Record, warnings []string, err error) {
	recs, warnings, err = read(ctx, r.db, q)
	if err == nil && len(warnings) > 0 {
		err = r.CheckSchema(ctx) // it may be why
	}
	return recs, warnings, r.explain(ctx, err)
}

// Read is as [Registry.Read], within the change.
func (t *Tx) Read(ctx context.Context, q Query) (recs []Record, warnings []string, err error) {
	return read(ctx, t.tx, q)
}

func read(ctx context.Context, q querier, query Query) (recs []Record, warnings []string, err error) {
	where, args := query.where()
	return readWhere(ctx, q, where, args...)
}

func readWhere(ctx context.Context, q querier, where string, args ...any) (recs []Record, warnings []string, err error) {
	return readable(ctx, q, scan[Record], "the record of", func(r Record) string { return r.Name },
		"SELECT "+columns+" FROM workers"+where+" ORDER BY seq", args...)
}

// Get returns the record with that id: [ErrNotFound] if there is none.
func (r *Registry) Get(ctx context.Context, id string) (Record, error) {
	rec, err := get(r.db.QueryRowContext(ctx, getOne, id), id)
	return rec, r.explain(ctx, err)
}

const getOne = "SELECT " + columns + " FROM workers WHERE id = ?"

func get(found *sql.Row, id string) (Record, error) {
	r, err := scan[Record](found)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	return r, wrapf(err, "read the record of %s", id)
}

// CountRunning returns how many workers of a backend are recorded as running.
func (r *Registry) CountRunning(ctx context.Context, backend string) (n int, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT count(*) FROM workers"+runningOf, backend).Scan(&n)
	return n, r.explain(ctx, err)
}

var runningOf = fmt.Sprintf(" WHERE state = '%s' AND backend = ?", Running)

// RunningHandles returns the ids and the handles of the workers of a backend that are
// recorded as running.
func (r *Registry) RunningHandles(ctx context.Context, backend string) (ids []string, handles []swarm.Handle, err error) {
	err = eachRow(ctx, r.db, func(rows *sql.Rows) error {
		var id string
		var h swarm.Handle
		err := rows.Scan(&id, &h.Version, &h.Data)
		ids, handles = append(ids, id), append(handles, h)
		return err
	}, "SELECT id, handle_version, handle FROM workers"+runningOf, backend)
	return ids, handles, r.explain(ctx, err)
}

// Names returns the names of all workers, in the order of their insertion.
func (r *Registry) Names(ctx context.Context) ([]string, error) {
	return r.texts(ctx, "SELECT name FROM workers ORDER BY seq")
}

// texts returns the only column of a query.
func (r *Registry) texts(ctx context.Context, query string) ([]string, error) {
	texts, err := all(ctx, r.db, value[string], query)
	return texts, r.explain(ctx, err)
}

// Check looks at the whole file for damage and returns what it finds.
func (r *Registry) Check(ctx context.Context) error {
	result, err := value[string](r.db.QueryRowContext(ctx, "PRAGMA quick_check(1)"))
	if err != nil {
		return r.explain(ctx, err)
	}
	if result != "ok" {
		return &DamagedError{Path: r.path, Cause: errors.New(strings.ReplaceAll(result, "\n", "; "))}
	}
	return nil
}
