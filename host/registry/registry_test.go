package registry

import (
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
			Plugin:  &Plugin{Command: []string{"/p", "-x"}, Version: "1.2", SHA256: "ab", MTLS: true, Config: map[string]any{"k": "v"}, Source: "user"},
			Command: []string{"sh", "-c", "echo 'ä\n'"}, Dir: "/repo-worktrees/full",
			Env: []string{"A=1"}, Tags: []string{"t", "u"}, Options: map[string]string{"session": "s"},
			Kill:        swarm.KillOptions{Signal: "SIGINT", Grace: 5 * time.Second, Force: true, Mode: swarm.KillMain, Detach: true},
			OutputLimit: 1 << 20, Retain: "1h0m0s", Team: "red", Agent: "agent-abc123",
			Shell: &Shell{Foreground: true, FromLog: true, Acts: true, Session: "s", Description: "ä"},
			Ask:   &WorkspaceAsk{Plugin: "worktree", Config: &Plugin{SHA256: "cd"}, Base: "/repo", Branch: "b", Parent: "p", Within: true, Away: true},
			Owner: &swarm.Owner{PID: 123, Start: 456, Boot: "b"}, Stdin: true,
			Restart: swarm.Restart{When: swarm.RestartAlways, MinDelay: time.Second, MaxDelay: time.Minute, Budget: 3, Window: time.Hour},
			Limits:  swarm.Limits{Memory: 1 << 30, CPUs: 1.5, PIDs: 100, Nice: 5, IOWeight: 50, BestEffort: true},
			Sandbox: &swarm.Sandbox{Network: swarm.NetworkNone, Home: "/h", Write: []string{"/w"}},
			Ralph:   true, Shown: []string{"sh"}, Project: "/p/swarm.toml", Profile: "claude", Resurrect: true, NoScreen: true,
			Real:      []RealPath{{Path: "/repo", Real: "/disk/repo"}},
			Own:       Own{Memory: true, CPUs: true, PIDs: true, Nice: true, IOWeight: true, Effort: true, Sandbox: true, Resurrect: true},
			SpawnedBy: []string{"v"}, Previous: []string{"x", "y"}, Created: time.Unix(1700000000, 1),
		},
		Completion: &swarm.Completion{Summary: "done", Time: time.Unix(1700000003, 0)}, Restarts: 7,
		Replaces: &Record{Spec: bare("old").Spec, State: Stopped, Handle: swarm.Handle{Version: 1, Data: []byte{9}}, Exit: &swarm.Exit{Code: 3}},
		State:    Stopped, Step: StepKilling, Removing: true,
		Workspace: &swarm.WorkspaceRef{
			ID: "1m7z0xwyhn2yfekg", Name: "full", Path: "/repo-worktrees/full", Branch: "b", Base: "/repo", Dir: "d", Host: "h",
			Handle: swarm.Handle{Version: 3, Data: []byte{7}},
		},
		Handle: swarm.Handle{Version: 2, Data: []byte{0, 1, 255}},
		Place:  swarm.Where{Kind: "tmux window", Name: "s:full", Parts: map[string]string{"session": "s"}, ID: "@1"},
		PID:    42, Started: time.Unix(1700000001, 2),
		Exit: &swarm.Exit{
			Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled, Reason: "why", Time: time.Unix(1700000002, 3),
			Usage: &swarm.Usage{CPUTime: new(time.Minute), Peak: new(int64(1)), Read: new(int64(2)), Written: new(int64(3))},
		},
		Reason: "because", ShellRead: 77,
	}
}

// history is the history of a fixture.
func history() []Event {
	return []Event{
		{Seq: 1, Time: time.Unix(1700000001, 2), ID: full().ID, Worker: "full", Kind: "SPAWNED", Previous: "y"},
		{Seq: 2, Time: time.Unix(1700000002, 3), ID: full().ID, Worker: "full", Kind: "COMPLETE", Text: "done: ä", Final: true, Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseCompleted}, Tags: []string{"t", "u"}},
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
