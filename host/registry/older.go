package registry

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

// OlderPrefix begins the names of the copies that migrations keep in the state directory,
// such as before-schema-9-20261127T071738Z.db.
const OlderPrefix = "before-schema-"

// keepOlder writes a copy of the database at path into its directory, which its caller is
// about to migrate from that version. The caller holds the lock for changes, so the copy is
// what the migration begins with. It is on the disk, whole, before the first change.
func keepOlder(ctx context.Context, path string, version int) (err error) {
	defer func() {
		err = wrapf(err, "keep a copy of %s, whose schema %d is older, before it is changed", path, version)
	}()
	dir := filepath.Dir(path)
	removeStale(dir)
	tmp, err := os.MkdirTemp(dir, BuildPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	made := filepath.Join(tmp, File)
	// SQLite would make it with the mode of the umask.
	if err := os.WriteFile(made, nil, 0o600); err != nil {
		return err
	}
	r, err := open(path, url.Values{"mode": {"ro"}})
	if err != nil {
		return err
	}
	_, err = r.db.ExecContext(ctx, "VACUUM INTO ?", made)
	if err = errors.Join(explain(path, err), r.Close()); err != nil {
		return err
	}
	if err := syncPath(made); err != nil {
		return err
	}
	stem := filepath.Join(dir, fmt.Sprintf("%s%d-%s", OlderPrefix, Schema, time.Now().UTC().Format("20060102T150405Z")))
	kept := stem + ".db"
	for n := 2; ; n++ {
		if err = os.Link(made, kept); !errors.Is(err, fs.ErrExist) {
			break
		}
		kept = fmt.Sprintf("%s-%d.db", stem, n)
	}
	if err != nil {
		return err
	}
	return syncPath(dir)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readOlder returns a registry for reading with a migrated copy of r, whose schema has an
// older version. The copy is a database of SQLite without a name: what memory does not hold
// of it is in a file that has no name either. It takes over r.
func (r *Registry) readOlder(ctx context.Context, version int) (copied *Registry, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s, whose schema %d is older; 'swarm gc' brings it up to date: %w", r.path, version, explain(r.path, err))
			err = errors.Join(err, r.Close())
		}
	}()
	data, err := dataVersion(ctx, r.db)
	if err != nil {
		return nil, err
	}
	conn, err := r.copy(ctx)
	if err != nil {
		return nil, err
	}
	copied = &Registry{db: sql.OpenDB(&single{conn: conn}), path: r.path}
	copied.db.SetMaxOpenConns(1)
	if err := copied.migrate(ctx, filepath.Dir(r.path), Schema, nil); err != nil {
		return nil, errors.Join(err, copied.Close())
	}
	copied.source, copied.copied, copied.older = r.db, data, version
	return copied, nil
}

// Version returns the version of the schema that the database has: [Schema], or an older
// one of which this registry reads a copy.
func (r *Registry) Version() int { return cmp.Or(r.older, Schema) }

// copy copies the database page by page, as it is at one moment.
func (r *Registry) copy(ctx context.Context) (copied driver.Conn, err error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.Raw(func(c any) error {
		from, ok := c.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("%T can't copy a database: %w", c, errors.ErrUnsupported)
		}
		b, err := from.NewBackup("")
		if err != nil {
			return err
		}
		if _, err := b.Step(-1); err != nil {
			return errors.Join(err, b.Finish())
		}
		copied, err = b.Commit()
		return err
	})
	return copied, err
}

// single connects to one database that has one connection.
type single struct{ conn driver.Conn }

var errDisconnected = errors.New("the copy of the database was closed")

func (s *single) Connect(context.Context) (driver.Conn, error) {
	conn := s.conn
	if s.conn = nil; conn == nil {
		return nil, errDisconnected
	}
	return conn, nil
}

func (s *single) Driver() driver.Driver { return &sqlite.Driver{} }

// Outdated reports whether the registry is a copy of a database with an older schema that
// has changed since. Its reader opens another one then.
func (r *Registry) Outdated(ctx context.Context) (bool, error) {
	if r.source == nil {
		return false, nil
	}
	now, err := dataVersion(ctx, r.source)
	return now != r.copied, explain(r.path, err)
}

// dataVersion returns a number that differs after another process has changed the database.
func dataVersion(ctx context.Context, q querier) (int, error) {
	return value[int](q.QueryRowContext(ctx, "PRAGMA data_version"))
}

// CheckSchema is an [ErrNewer] if a newer swarm has migrated the database since it was
// opened. A program that reads for long calls it after each change: not every change of a
// schema makes a query fail.
func (r *Registry) CheckSchema(ctx context.Context) error {
	return explain(r.path, r.checkSchema(ctx, r.db))
}

func (r *Registry) checkSchema(ctx context.Context, q querier) error {
	version, err := userVersion(ctx, q)
	if err == nil && version > Schema {
		err = newer(r.path, version)
	}
	return err
}

// explain is the function explain for an error of r.db itself, outside of transactions. An
// error whose cause is that a newer swarm has migrated the database is an [ErrNewer].
func (r *Registry) explain(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		return err
	}
	if newer := r.checkSchema(ctx, r.db); errors.Is(newer, ErrNewer) {
		return newer
	}
	return explain(r.path, err)
}

func newer(path string, version int) error {
	return fmt.Errorf("%w: %s has schema %d, this swarm knows up to %d; start this command again if swarm was upgraded, else install that swarm again, or set SWARM_DIR to another directory",
		ErrNewer, path, version, Schema)
}
