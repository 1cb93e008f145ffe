package registry

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/trust"
)

// File is the name of the database in the state directory.
const File = "swarm.db"

const workersDir = "workers"

// migrations/000N_*.sql makes schema N of schema N-1.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Schema is the version of the database's schema that this package writes.
const Schema = 1

type Registry struct {
	db   *sql.DB
	path string
	// file is the database's file; nil if it could not be looked at, or after Close.
	file fs.FileInfo
	// erased says that there is something to scrub, see [Registry.Scrub].
	erased atomic.Bool
}

// Open opens the registry in the state directory dir for reading and writing,
// and makes or migrates it where it has to.
func Open(ctx context.Context, dir string) (*Registry, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state directory: %w", err)
	}
	path := filepath.Join(dir, File)
	if !exists(path) {
		if hasWorkers(dir) && !exists(path) { // the first spawn ever may be under way
			return nil, missing(path)
		}
		// Of several that come first one wins.
		if err := Build(ctx, dir, nil, nil); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, explain(path, err)
		}
	}
	r, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if err := r.migrate(ctx, dir, Schema); err != nil {
		return nil, errors.Join(explain(path, err), r.Close())
	}
	return r, nil
}

func openFile(path string) (*Registry, error) {
	return open(path, url.Values{"_pragma": {"synchronous=NORMAL", "secure_delete=ON"}})
}

// OpenReadOnly opens the registry in dir for reading. It writes nothing and
// works where nothing can be written. A registry that was never made is [fs.ErrNotExist].
func OpenReadOnly(ctx context.Context, dir string) (*Registry, error) {
	path := filepath.Join(dir, File)
	for attempt := 0; ; attempt++ {
		r, err := openReadOnly(ctx, path)
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || !hasWorkers(dir) {
			return nil, err
		}
		// The first spawn ever may have come in between.
		if attempt > 0 {
			return nil, missing(path)
		}
	}
}

func openReadOnly(ctx context.Context, path string) (*Registry, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	r, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return nil, err
	}
	version, err := schemaOf(ctx, r.db, path)
	if notWritable(explain(path, err)) && !hasLog(path) {
		// SQLite can't make the index of the log where nothing can be written.
		// Without a log the file itself is all there is.
		err = r.Close()
		if err == nil {
			r, err = open(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
		}
		if err == nil {
			version, err = schemaOf(ctx, r.db, path)
		}
	}
	switch {
	case err != nil:
		err = explain(path, err)
	case version == 0:
		err = fmt.Errorf("%s is empty: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func open(path string, query url.Values) (*Registry, error) {
	file, err := checkFiles(path)
	if err != nil {
		return nil, err
	}
	query.Set("_busy_timeout", "10000")
	query.Set("_txlock", "immediate")
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		opened.remove(file)
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	// Several connections of one process would only wait for each other.
	db.SetMaxOpenConns(1)
	return &Registry{db: db, path: path, file: file}, nil
}

// besides are the endings of the files that SQLite has besides a database. It opens those that
// are there before it reads anything.
var besides = []string{"-journal", "-wal", "-shm"}

// checkFiles refuses files that would have SQLite wait, such as a FIFO, or write elsewhere, and
// a database of an unreleased swarm. It returns the database's file and adds it to those that
// are opened.
func checkFiles(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists(path):
		return nil, &DamagedError{Path: path, Cause: errors.New("it is a symbolic link that leads nowhere")}
	case err != nil:
		return nil, nil //nolint:nilerr,nilnil // SQLite says the rest
	case !info.Mode().IsRegular():
		return nil, &DamagedError{Path: path, Cause: errors.New("it is not a regular file")}
	}
	for _, ending := range besides {
		info, err := os.Lstat(path + ending)
		switch {
		case err != nil:
		case !info.Mode().IsRegular():
			return nil, &DamagedError{Path: path + ending, Cause: errors.New("it is not a regular file: move it away")}
		case !trust.Owned(info):
			return nil, &DamagedError{Path: path + ending, Cause: errors.New("it is owned by another user: move it away")}
		}
	}
	return info, opened.add(path, info)
}

func (r *Registry) Close() error {
	err := r.db.Close()
	opened.remove(r.file)
	r.file = nil
	return err
}

// migrate brings the schema to the version to. The common case costs one read.
func (r *Registry) migrate(ctx context.Context, dir string, to int) error {
	version, err := schemaOf(ctx, r.db, r.path)
	if err != nil || version == to {
		return err
	}
	// It can't be set in a transaction, and stays in the file. No call waits for
	// the lock that it needs; so new databases are made in a directory of their own.
	if _, err := r.db.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	// Another process may have been quicker.
	if version, err = schemaOf(ctx, tx, r.path); err != nil {
		return err
	}
	if version == 0 && hasWorkers(dir) {
		return missing(r.path)
	}
	scripts, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(scripts)
	for _, name := range scripts[version:to] {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("migrate %s with %s: %w", r.path, name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", versionBase+to)); err != nil {
		return err
	}
	return tx.Commit()
}

func missing(path string) error {
	return fmt.Errorf("%w: %s is gone or empty, but there are run directories of workers; %s", ErrMissing, path, doctorHint)
}

func notWritable(err error) bool { return errors.Is(err, ErrReadOnly) || errors.Is(err, ErrFull) }

// hasLog reports whether there are changes that are not in the database's file
// yet.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// hasWorkers reports whether there are run directories, which are never made
// before there is a database.
func hasWorkers(dir string) bool {
	entries, err := safefile.ReadDir(filepath.Join(dir, workersDir))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		_, err := os.Stat(filepath.Join(dir, workersDir, e.Name(), rundir.WorkerFile))
		return err == nil
	})
}
