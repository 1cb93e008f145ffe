package registry

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// full is a record with something in every field.
func full() Record {
	return Record{
		Spec: Spec{
			ID: "1m7z0xwyhn2yfekg", Name: "full", Backend: "tmux",
			Plugin:  &Plugin{Command: []string{"/p", "-x"}, SHA256: "ab", MTLS: true, Config: map[string]any{"k": "v"}},
			Command: []string{"sh", "-c", "echo 'ä\n'"}, Dir: "/repo-worktrees/full",
			Env: []string{"A=1"}, Tags: []string{"t", "u"}, Options: map[string]string{"session": "s"},
			Kill:        swarm.KillOptions{Signal: "SIGINT", Grace: 5 * time.Second, Force: true, Mode: swarm.KillMain},
			OutputLimit: 1 << 20, Retain: "1h0m0s", Team: "red", Agent: "agent-abc123", Shell: &Shell{Foreground: true, Acts: true, Session: "s", Description: "ä"},
			Ask:   &WorkspaceAsk{Plugin: "worktree", Config: &Plugin{SHA256: "cd"}, Base: "/repo", Branch: "b", Parent: "p"},
			Owner: &swarm.Owner{PID: 123, Start: 456, Boot: "b"}, Stdin: true, Ralph: true, Previous: []string{"x", "y"}, Project: "/p/swarm.toml", Profile: "claude",
			Restart: swarm.Restart{When: swarm.RestartAlways, MinDelay: time.Second, MaxDelay: time.Minute, Budget: 3, Window: time.Hour},
			Created: time.Unix(1700000000, 1),
		},
		Completion: &swarm.Completion{Summary: "done", Time: time.Unix(1700000003, 0)}, Restarts: 7,
		Replaces: &Record{Spec: bare("old").Spec, State: Stopped, Handle: swarm.Handle{Version: 1, Data: []byte{9}}, Exit: &swarm.Exit{Code: 3}},
		State:    Stopped, Step: StepKilling,
		Workspace: &swarm.WorkspaceRef{ID: "1m7z0xwyhn2yfekg", Name: "full", Path: "/repo-worktrees/full", Branch: "b", Base: "/repo"},
		Handle:    swarm.Handle{Version: 2, Data: []byte{0, 1, 255}},
		Place:     swarm.Where{Kind: "tmux window", Name: "s:full", Parts: map[string]string{"session": "s"}},
		PID:       42, Started: time.Unix(1700000001, 2),
		Exit:   &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled, Reason: "why", Time: time.Unix(1700000002, 3)},
		Reason: "because", ShellRead: 77,
	}
}

// fullOf is full as a schema of long ago could hold it.
func fullOf(schema int) Record {
	rec := full()
	if schema < 2 {
		rec.Owner, rec.Stdin, rec.Ralph, rec.Previous, rec.Restart = nil, false, false, nil, swarm.Restart{}
		rec.Project, rec.Completion, rec.Restarts, rec.Replaces = "", nil, 0, nil
	}
	if schema < 3 {
		rec.Agent, rec.Shell, rec.ShellRead = "", nil, 0
	}
	if schema < 5 {
		rec.Profile = ""
	}
	return rec
}

// history is what a fixture tells.
func history() []Event {
	return []Event{
		{Seq: 1, Time: time.Unix(1700000001, 2), ID: full().ID, Worker: "full", Kind: "SPAWNED", Previous: "y"},
		{Seq: 2, Time: time.Unix(1700000002, 3), ID: full().ID, Worker: "full", Kind: "COMPLETE", Text: "done: ä", Final: true, Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseCompleted}},
	}
}

// bare is a record with as little as there can be.
func bare(name string) Record {
	return Record{
		Spec:  Spec{ID: "id-" + name, Name: name, Backend: "process", Command: []string{"true"}, Dir: "/", Retain: "until-clean", Created: time.Unix(1700000000, 0)},
		State: Starting,
	}
}

func insert(t *testing.T, r *Registry, recs ...Record) {
	t.Helper()
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		for i := range recs {
			if err := tx.Insert(ctx, &recs[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func openTest(t *testing.T, dir string) *Registry {
	t.Helper()
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func readAll(t *testing.T, r *Registry) []Record {
	t.Helper()
	recs, warnings, err := r.Read(t.Context(), Query{})
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	return recs
}

func TestRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	want := []Record{full(), bare("b"), bare("a")}
	insert(t, r, want...)
	if diff := cmp.Diff(want, readAll(t, r)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for what, c := range map[string]struct {
		query Query
		want  []string
	}{
		"name and id": {Query{Names: []string{"a", want[0].ID, "ghost"}}, []string{"full", "a"}},
		"state":       {Query{State: Starting}, []string{"b", "a"}},
		"backend":     {Query{Backend: "tmux"}, []string{"full"}},
		"all three":   {Query{Names: []string{"a"}, State: Starting, Backend: "process"}, []string{"a"}},
	} {
		recs, _, err := r.Read(t.Context(), c.query)
		var got []string
		for _, rec := range recs {
			got = append(got, rec.Name)
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
		}
	}
	if _, err := r.Get(t.Context(), "ghost"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a record that is not there: %v", err)
	}
	ro, err := OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ro.Close() }()
	if diff := cmp.Diff(want, readAll(t, ro)); diff != "" {
		t.Errorf("read by another (-want +got):\n%s", diff)
	}
	err = ro.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.Delete(ctx, "id-a") })
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("a change by a reader: %v", err)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	insert(t, r, bare("a"))
	boom := errors.New("boom")
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		if err := tx.Delete(ctx, "id-a"); err != nil {
			return err
		}
		b := bare("b")
		if err := tx.Insert(ctx, &b); err != nil {
			return err
		}
		return boom
	})
	if recs := readAll(t, r); !errors.Is(err, boom) || len(recs) != 1 || recs[0].Name != "a" {
		t.Errorf("a change that failed: %v, records %v", err, recs)
	}
	again := bare("a")
	again.ID = "another"
	err = r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.Insert(ctx, &again) })
	if !errors.Is(err, ErrExists) {
		t.Errorf("a taken name: %v", err)
	}
	err = r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		return tx.Update(ctx, "id-a", func(rec *Record) error {
			rec.State, rec.Handle = Running, swarm.Handle{Version: 1, Data: []byte("h")}
			return nil
		})
	})
	rec, gerr := r.Get(t.Context(), "id-a")
	if err != nil || gerr != nil || rec.State != Running || string(rec.Handle.Data) != "h" || rec.Dir != "/" {
		t.Errorf("%v, %v: %+v", err, gerr, rec)
	}
}

// Many connections, as of many processes, all get their turn.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const writers, each = 20, 10
	errs := make(chan error, writers)
	for w := range writers {
		go func() {
			errs <- func() (err error) {
				r, err := Open(t.Context(), dir)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, r.Close()) }()
				for i := range each {
					rec := bare(fmt.Sprintf("w%d-%d", w, i))
					if err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.Insert(ctx, &rec) }); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := len(readAll(t, openTest(t, dir))); got != writers*each {
		t.Errorf("%d records, want %d", got, writers*each)
	}
}

// A fixture of every schema that was ever released loads, for reading and for
// changes. UPDATE_FIXTURE writes that of the schema of today.
func TestFixtures(t *testing.T) {
	t.Parallel()
	if os.Getenv("UPDATE_FIXTURE") != "" {
		writeFixture(t)
	}
	for schema := 1; schema <= Schema; schema++ {
		for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
			r, err := open(t.Context(), olderSchema(t, schema))
			if err != nil {
				t.Fatalf("schema %d, for %s: %v", schema, what, err)
			}
			// Before documents, only the name of the backend said this.
			other := bare("bare")
			other.NoScreen = schema < 7
			if diff := cmp.Diff([]Record{fullOf(schema), other}, readAll(t, r)); diff != "" {
				t.Errorf("schema %d, for %s (-want +got):\n%s", schema, what, diff)
			}
			want := history()
			if schema < 2 {
				want = nil
			}
			if diff := cmp.Diff(want, allEvents(t, r)); diff != "" {
				t.Errorf("schema %d, for %s, events (-want +got):\n%s", schema, what, diff)
			}
			if diff := cmp.Diff(teamsOf(schema), readTeams(t, r)); diff != "" {
				t.Errorf("schema %d, for %s, teams (-want +got):\n%s", schema, what, diff)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Of many that come first to an older database one migrates it, for all.
func TestManyMigrate(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < Schema; schema++ {
		dir := olderSchema(t, schema)
		const many = 12
		errs := make(chan error, many)
		for i := range many {
			open := []func(context.Context, string) (*Registry, error){Open, OpenReadOnly}[i%2]
			go func() {
				r, err := open(t.Context(), dir)
				if err == nil {
					_, _, err = r.Read(t.Context(), Query{})
					err = errors.Join(err, r.Close())
				}
				errs <- err
			}()
		}
		for range many {
			if err := <-errs; err != nil {
				t.Errorf("schema %d: %v", schema, err)
			}
		}
		if got := readAll(t, openTest(t, dir)); len(got) != 2 {
			t.Errorf("schema %d: %d records", schema, len(got))
		}
	}
}

// TestMigrateUnreadable: a migration keeps a record that can't be read, and the others.
func TestMigrateUnreadable(t *testing.T) {
	t.Parallel()
	dir := olderSchema(t, 6)
	raw(t, dir, `UPDATE workers SET command = '["half' WHERE name = 'bare'`)
	r := openTest(t, dir)
	recs, warnings, err := r.Read(t.Context(), Query{})
	if err != nil || len(recs) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "'bare'") {
		t.Errorf("records %v, warnings %q, %v", recs, warnings, err)
	}
	if err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.Delete(ctx, bare("bare").ID) }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]Record{full()}, readAll(t, r)); diff != "" {
		t.Errorf("after it was deleted (-want +got):\n%s", diff)
	}
}

// TestMigrateNumbers: a number is not given again after a migration, although its row
// is gone.
func TestMigrateNumbers(t *testing.T) {
	t.Parallel()
	dir := olderSchema(t, 6)
	raw(t, dir, "DELETE FROM agents; DELETE FROM shutdowns")
	agent, shutdown := Agent{ID: "a", Role: RoleWorker, Status: AgentActive}, Shutdown{Phase: ShutdownRequested}
	change(t, openTest(t, dir), func(ctx context.Context, tx *Tx) error {
		return errors.Join(tx.InsertAgent(ctx, &agent), tx.InsertShutdown(ctx, &shutdown))
	})
	if agent.Seq != 4 || shutdown.ID != 3 {
		t.Errorf("agent %d, shutdown %d, want 4 and 3", agent.Seq, shutdown.ID)
	}
}

// TestMigrateErases: the environment of a record of an older schema can be erased.
func TestMigrateErases(t *testing.T) {
	t.Parallel()
	dir := olderSchema(t, 6)
	raw(t, dir, `UPDATE workers SET env = '["KEY=SECRET-1"]' WHERE name = 'full'`)
	r := openTest(t, dir)
	if !bytes.Contains(contents(t, dir), []byte("SECRET-1")) {
		t.Error("the environment can't be found: the test proves nothing")
	}
	change(t, r, func(ctx context.Context, tx *Tx) error { return tx.Delete(ctx, full().ID) })
	if err := r.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(contents(t, dir), []byte("SECRET-1")) {
		t.Error("the environment is still there")
	}
}

// olderSchema returns a state directory with the fixture of a schema.
func olderSchema(t *testing.T, schema int) (dir string) {
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

func fixture(schema int) string { return filepath.Join("testdata", fmt.Sprintf("schema%d.db", schema)) }

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
	if err == nil {
		err = os.WriteFile(fixture(Schema), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// raw runs SQL on a database behind the registry's back.
func raw(t *testing.T, dir, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	insert(t, openTest(t, dir), bare("a"))
	raw(t, dir, fmt.Sprintf("PRAGMA user_version=%d", Schema+1))
	for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
		if _, err := open(t.Context(), dir); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "written by a newer swarm") {
			t.Errorf("for %s: %v", what, err)
		}
	}
}

func TestUnreadableRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	insert(t, r, bare("a"), bare("b"), bare("c"))
	raw(t, dir, `UPDATE workers SET document = '{"command": ["half' WHERE name = 'b'`)
	raw(t, dir, "UPDATE workers SET document = json_set(document, '$.pid', 'not a number') WHERE name = 'c'")
	recs, warnings, err := r.Read(t.Context(), Query{})
	if err != nil || len(recs) != 1 || recs[0].Name != "a" || len(warnings) != 2 || !strings.Contains(warnings[0], "'b'") || !strings.Contains(warnings[1], "'c'") {
		t.Errorf("records %v, warnings %q, %v", recs, warnings, err)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(path string) error
		want   error
	}{
		"deleted":     {os.Remove, ErrMissing},
		"emptied":     {func(path string) error { return os.Truncate(path, 0) }, ErrMissing},
		"truncated":   {func(path string) error { return os.Truncate(path, 5000) }, ErrDamaged},
		"a page left": {func(path string) error { return os.Truncate(path, 4096) }, ErrDamaged},
		"half a page": {func(path string) error { return os.Truncate(path, 2000) }, ErrDamaged},
		"overwritten": {func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 20000)), 0o600) }, ErrDamaged},
		"short text":  {func(path string) error { return os.WriteFile(path, []byte("hello"), 0o600) }, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := openTest(t, dir)
			insert(t, r, full())
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			run := filepath.Join(dir, workersDir, full().ID)
			if err := errors.Join(os.MkdirAll(run, 0o700), os.WriteFile(filepath.Join(run, rundir.WorkerFile), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := c.damage(filepath.Join(dir, File)); err != nil {
				t.Fatal(err)
			}
			for what, open := range map[string]func(context.Context, string) (*Registry, error){"changes": Open, "reading": OpenReadOnly} {
				r, err := open(t.Context(), dir)
				if err == nil {
					_, _, err = r.Read(t.Context(), Query{})
					_ = r.Close()
				}
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "swarm doctor") {
					t.Errorf("for %s: %v, want %v and a word of the doctor", what, err, c.want)
				}
			}
		})
	}
}

// Without workers there is nothing to lose.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := OpenReadOnly(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, File), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty file: %v", err)
	}
	if got := readAll(t, openTest(t, dir)); len(got) != 0 {
		t.Errorf("records %v", got)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state ?#%41")
	r := openTest(t, dir)
	insert(t, r, bare("a"))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(e.Name(), File) {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}
