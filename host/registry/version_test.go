package registry

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func fixture(schema int) string { return filepath.Join("testdata", fmt.Sprintf("schema%d.db", schema)) }

// fromFixture returns a state directory with the fixture of a schema.
func fromFixture(t *testing.T, schema int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	data, err := os.ReadFile(fixture(schema))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, File), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The fixture of each schema loads, for reading and for changes. UPDATE_FIXTURE writes that of a
// new schema; a fixture never changes.
func TestFixtures(t *testing.T) {
	t.Parallel()
	if os.Getenv("UPDATE_FIXTURE") != "" {
		writeFixture(t)
	}
	for schema := 1; schema <= Schema; schema++ {
		for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
			r, err := open(t.Context(), fromFixture(t, schema))
			if err != nil {
				t.Fatalf("schema %d, for %s: %v", schema, what, err)
			}
			wantFixture(t, fmt.Sprintf("schema %d, for %s", schema, what), r)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		dir := fromFixture(t, schema)
		salvaged := rebuild(t, dir)
		if diff := cmp.Diff(teamsOfFixture(), readTeams(t, salvaged)); diff != "" {
			t.Errorf("schema %d, rebuilt, teams (-want +got):\n%s", schema, diff)
		}
		if diff := cmp.Diff(history(), allEvents(t, salvaged)); diff != "" {
			t.Errorf("schema %d, rebuilt, events (-want +got):\n%s", schema, diff)
		}
	}
}

// wantFixture checks that a registry has what writeFixture writes.
func wantFixture(t *testing.T, what string, r *Registry) {
	t.Helper()
	const hint = "A field that has another name, type or place is another format: see docs/stability.md."
	if diff := cmp.Diff([]Record{full(), bare("bare")}, readAll(t, r)); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", what, diff, hint)
	}
	if diff := cmp.Diff(history(), allEvents(t, r)); diff != "" {
		t.Errorf("%s, events (-want +got):\n%s\n%s", what, diff, hint)
	}
	if diff := cmp.Diff(teamsOfFixture(), readTeams(t, r)); diff != "" {
		t.Errorf("%s, teams (-want +got):\n%s\n%s", what, diff, hint)
	}
}

func writeFixture(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	r := openTest(t, dir)
	insert(t, r, full(), bare("bare"))
	appendAll(t, r, history()...)
	writeTeams(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fixture(Schema), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		t.Fatalf("the fixture of a schema is written once: %v", err)
	}
	if _, err := f.Write(data); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// No migration changes once it has a fixture, and each migration has one.
func TestSchemaIsThatOfFixture(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(scripts) != Schema {
		t.Fatalf("%d migrations, schema %d, %v", len(scripts), Schema, err)
	}
	for schema := 1; schema <= Schema; schema++ {
		made, err := openFile(filepath.Join(t.TempDir(), File))
		if err != nil {
			t.Fatal(err)
		}
		if err := made.migrate(t.Context(), t.TempDir(), schema); err != nil {
			t.Fatal(err)
		}
		kept, err := openFile(filepath.Join(fromFixture(t, schema), File))
		if err != nil {
			t.Fatal(err)
		}
		if version, err := schemaOf(t.Context(), kept.db, kept.path); version != schema || err != nil {
			t.Errorf("%s has schema %d, %v", fixture(schema), version, err)
		}
		if diff := cmp.Diff(tables(t, kept), tables(t, made)); diff != "" {
			t.Errorf("%s differs from its migrations; a new schema needs a new file in migrations, Schema plus one, and a fixture (UPDATE_FIXTURE=1): see docs/stability.md (-fixture +migrations):\n%s",
				fixture(schema), diff)
		}
		if err := errors.Join(made.Close(), kept.Close()); err != nil {
			t.Error(err)
		}
	}
}

// tables returns the statements that make the tables and indexes of a database.
func tables(t *testing.T, r *Registry) []string {
	t.Helper()
	statements, err := all(t.Context(), r.db, value[string], "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	return statements
}

func TestNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	insert(t, openTest(t, dir), bare("a"))
	raw(t, dir, fmt.Sprintf("PRAGMA user_version=%d", versionBase+Schema+1))
	for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
		if _, err := open(t.Context(), dir); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), fmt.Sprintf("swarm.db has schema %d, this swarm knows up to %d", Schema+1, Schema)) {
			t.Errorf("for %s: %v", what, err)
		}
	}
}

// The database of an unreleased swarm is refused, and no file of its directory is changed, made
// or removed.
func TestUnreleased(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 9, versionBase} {
		for _, damage := range []string{"", "DROP TABLE workers"} {
			made, dir := fromFixture(t, Schema), t.TempDir()
			raw(t, made, fmt.Sprintf("%s; PRAGMA user_version=%d", damage, version))
			data, err := os.ReadFile(filepath.Join(made, File)) // it is not the same file then
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, File), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := filesOf(t, dir)
			if len(before) != 1 {
				t.Fatalf("files %v", before)
			}
			for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
				for range 2 {
					_, err := open(t.Context(), dir)
					if !errors.Is(err, ErrUnreleased) || errors.Is(err, ErrDamaged) || !strings.HasSuffix(err.Error(), "move "+dir+" away") {
						t.Errorf("version %d, for %s: %v", version, what, err)
					}
				}
			}
			if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
				t.Errorf("version %d: the directory was changed (-before +after):\n%s", version, diff)
			}
		}
	}
}

// A file is judged again when it was closed, since another one may have its inode by now.
func TestUnreleasedAfterClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	r := openTest(t, dir)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(data[versionOffset:], 9)
	if err := os.WriteFile(path, data, 0o600); err != nil { // it stays the same file
		t.Fatal(err)
	}
	before := filesOf(t, dir)
	for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
		if _, err := open(t.Context(), dir); !errors.Is(err, ErrUnreleased) {
			t.Errorf("for %s: %v", what, err)
		}
	}
	if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
		t.Errorf("the directory was changed (-before +after):\n%s", diff)
	}
}

// A version that only the log has so far counts too.
func TestUnreleasedInLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	if _, err := r.db.ExecContext(t.Context(), "PRAGMA user_version=9"); err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
		if _, err := open(t.Context(), dir); !errors.Is(err, ErrUnreleased) {
			t.Errorf("for %s: %v", what, err)
		}
	}
}

// filesOf returns the names of the files in a directory, with a hash of each.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return files
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
			raw(t, dir, fmt.Sprintf("BEGIN; %s; PRAGMA user_version=%d; COMMIT", migration, versionBase+Schema+1))
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
