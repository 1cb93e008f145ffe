package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func copies(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, OlderPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Reading an older schema changes nothing in the state directory, whatever its mode is. The
// reader learns that its copy is out of date when another process changes the database.
func TestReadOlder(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < Schema; schema++ {
		dir := olderSchema(t, schema)
		raw(t, dir, "PRAGMA journal_mode=WAL")
		before, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenReadOnly(t.Context(), dir)
		if err != nil {
			t.Fatalf("schema %d: %v", schema, err)
		}
		if got := readAll(t, r); len(got) != 2 || r.Version() != schema {
			t.Errorf("schema %d: version %d, %d records", schema, r.Version(), len(got))
		}
		after, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil || string(before) != string(after) || len(copies(t, dir)) > 0 {
			t.Errorf("schema %d: the state directory was changed: %v", schema, err)
		}
		if outdated, err := r.Outdated(t.Context()); outdated || err != nil {
			t.Errorf("schema %d: out of date before any change: %v", schema, err)
		}
		raw(t, dir, "DELETE FROM workers WHERE name = 'bare'")
		if outdated, err := r.Outdated(t.Context()); !outdated || err != nil {
			t.Errorf("schema %d: not out of date after a change: %v", schema, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A migration keeps a copy of what it began with, and none if there is nothing to migrate.
func TestMigrationKeepsCopy(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < Schema; schema++ {
		dir := olderSchema(t, schema)
		raw(t, dir, "PRAGMA journal_mode=WAL")
		other, err := open(filepath.Join(dir, File), url.Values{}) // so that the change stays in the log
		if err == nil {
			_, err = other.db.ExecContext(t.Context(), "DELETE FROM workers WHERE name = 'bare'")
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := openTest(t, dir).Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
		kept := copies(t, dir)
		if len(kept) != 1 {
			t.Fatalf("schema %d: copies %q", schema, kept)
		}
		if info, err := os.Stat(kept[0]); err != nil || info.Mode() != 0o600 {
			t.Errorf("schema %d: %v, %v", schema, info.Mode(), err)
		}
		again := t.TempDir()
		if err := os.Rename(kept[0], filepath.Join(again, File)); err != nil {
			t.Fatal(err)
		}
		r, err := openReadOnly(t.Context(), filepath.Join(again, File))
		if err != nil {
			t.Fatalf("schema %d: the copy: %v", schema, err)
		}
		if got := readAll(t, r); len(got) != 1 || got[0].Name != "full" || r.Version() != schema {
			t.Errorf("schema %d: in the copy: version %d, records %v", schema, r.Version(), got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, BuildPrefix+"*")); len(left) > 0 || err != nil {
			t.Errorf("schema %d: left over: %q, %v", schema, left, err)
		}
	}
}

// Without a copy the database is not changed.
func TestNoMigrationWithoutCopy(t *testing.T) {
	t.Parallel()
	dir := olderSchema(t, 7)
	path := filepath.Join(dir, File)
	r, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no space left")
	err = r.migrate(t.Context(), dir, Schema, func(_ context.Context, at string, version int) error {
		if at != path || version != 7 {
			t.Errorf("%s, schema %d", at, version)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	if version, err := userVersion(t.Context(), r.db); version != 7 || err != nil {
		t.Errorf("schema %d, %v", version, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A process that has the database open while a newer swarm migrates it says that, for every query
// that fails, and for every transaction.
func TestMigratedMeanwhile(t *testing.T) {
	t.Parallel()
	type op func(context.Context, *Registry) error
	transactions := map[string]op{
		"change": func(ctx context.Context, r *Registry) error {
			return r.Change(ctx, func(context.Context, *Tx) error { return errors.New("it was called") })
		},
		"view": func(ctx context.Context, r *Registry) error {
			return r.View(ctx, func(context.Context, *Tx) error { return errors.New("it was called") })
		},
		"check": func(ctx context.Context, r *Registry) error { return r.CheckSchema(ctx) },
	}
	queries := map[string]op{
		"read":   func(ctx context.Context, r *Registry) error { _, _, err := r.Read(ctx, Query{}); return err },
		"get":    func(ctx context.Context, r *Registry) error { _, err := r.Get(ctx, bare("a").ID); return err },
		"names":  func(ctx context.Context, r *Registry) error { _, err := r.Names(ctx); return err },
		"events": func(ctx context.Context, r *Registry) error { _, err := r.Events(ctx, EventQuery{}); return err },
		"end":    func(ctx context.Context, r *Registry) error { _, err := r.End(ctx, "id"); return err },
		"known":  func(ctx context.Context, r *Registry) error { _, err := r.Known(ctx, "a"); return err },
		"last":   func(ctx context.Context, r *Registry) error { _, err := r.LastEvent(ctx); return err },
		"hooks":  func(ctx context.Context, r *Registry) error { _, err := r.HookNames(ctx); return err },
		"retry":  func(ctx context.Context, r *Registry) error { _, _, err := r.NextRetry(ctx, "h"); return err },
	}
	for what, migration := range map[string]string{
		"one that leaves no query":   "ALTER TABLE workers RENAME TO w; ALTER TABLE events RENAME TO e; ALTER TABLE hooks RENAME TO h; ALTER TABLE hook_retries RENAME TO r",
		"one that changes documents": "UPDATE workers SET document = '[]'",
		"one that adds a column":     "ALTER TABLE events ADD COLUMN more TEXT",
	} {
		for _, open := range []func(context.Context, string) (*Registry, error){Open, OpenReadOnly} {
			dir := t.TempDir()
			insert(t, openTest(t, dir), bare("a"))
			r, err := open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			raw(t, dir, fmt.Sprintf("BEGIN; %s; PRAGMA user_version=%d; COMMIT", migration, Schema+1))
			for name, f := range transactions {
				if err := f(t.Context(), r); !errors.Is(err, ErrNewer) {
					t.Errorf("%s: %s: %v", what, name, err)
				}
			}
			for name, f := range queries {
				err := f(t.Context(), r)
				if strings.Contains(what, "no query") && !errors.Is(err, ErrNewer) || err != nil && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrNotFound) {
					t.Errorf("%s: %s: %v", what, name, err)
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The environment of a worker is in the copy only if it was in the database: not that of one
// that had been deleted.
func TestCopyHoldsNothingDeleted(t *testing.T) {
	t.Parallel()
	dir := olderSchema(t, 6)
	raw(t, dir, `PRAGMA secure_delete=OFF; UPDATE workers SET env = '["KEY=SECRET-1"]' WHERE name = 'full'; DELETE FROM workers WHERE name = 'full'`)
	if !strings.Contains(string(contents(t, dir)), "SECRET-1") {
		t.Error("the environment can't be found: the test proves nothing")
	}
	if diff := cmp.Diff(1, len(readAll(t, openTest(t, dir)))); diff != "" {
		t.Error(diff)
	}
	for _, path := range copies(t, dir) {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "SECRET-1") {
			t.Errorf("%s: %v, or the environment is in it", path, err)
		}
	}
	if _, err := OpenReadOnly(t.Context(), t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
