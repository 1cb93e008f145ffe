package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rebuilt database has the teams that can still be read from the damaged one.
func TestSalvage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	appendAll(t, r, history()...)
	again := Retry{Seq: 1, Tries: 2, Next: time.Unix(1700000003, 4)}
	change(t, r, func(ctx context.Context, tx *Tx) error {
		return errors.Join(tx.SetHookCursor(ctx, "mail", 2), tx.SetRetry(ctx, "mail", again))
	})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rebuilt := rebuild(t, dir)
	wantHook(t, rebuilt, "mail", 2, again)
	if diff := cmp.Diff(teamsOfFixture(), readTeams(t, rebuilt)); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(history(), allEvents(t, rebuilt)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	// Ids continue where they were.
	change(t, rebuilt, func(ctx context.Context, tx *Tx) error {
		m := Message{Team: "red", Sender: "leader", Recipient: "leader", Type: MessagePlain}
		task := Task{Team: "red", Title: "v", Priority: PriorityLow, Status: TaskPending}
		err := errors.Join(tx.AddMessage(ctx, &m), tx.AddTask(ctx, &task))
		if m.ID != 3 || task.N != 3 {
			t.Errorf("message %d, task %d", m.ID, task.N)
		}
		return err
	})
}

// rebuild makes another database of what can be read of a closed one.
func rebuild(t *testing.T, dir string) *Registry {
	t.Helper()
	to := t.TempDir()
	salvaged := Salvage(t.Context(), filepath.Join(dir, File))
	defer salvaged.Close()
	if err := Build(t.Context(), to, nil, salvaged); err != nil {
		t.Fatal(err)
	}
	return openTest(t, to)
}

// One page that can't be read costs what is on it, not what comes after.
func TestSalvageAroundADamagedPage(t *testing.T) {
	t.Parallel()
	const many = 200
	dir := t.TempDir()
	r := openTest(t, dir)
	change(t, r, func(ctx context.Context, tx *Tx) error {
		err := tx.InsertTeam(ctx, &Team{Name: "red"})
		for range many {
			body := strings.Repeat("x", 1000)
			err = errors.Join(err, tx.AddMessage(ctx, &Message{Team: "red", Sender: "leader", Recipient: "leader", Type: MessagePlain, Body: body}))
		}
		return err
	})
	damageMiddle(t, r, dir, "messages")
	got := readTeams(t, rebuild(t, dir))
	if n := len(got.Messages); n < many-20 || n >= many || got.Messages[0].ID != 1 || got.Messages[n-1].ID != many {
		t.Errorf("%d messages, %d to %d", n, got.Messages[0].ID, got.Messages[n-1].ID)
	}
}

// damageMiddle closes a registry and damages the page of a table that has its middle rows.
func damageMiddle(t *testing.T, r *Registry, dir, table string) {
	t.Helper()
	const query = `SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = 'leaf' ORDER BY path
		LIMIT 1 OFFSET (SELECT count(*) / 2 FROM dbstat WHERE name = ?1 AND pagetype = 'leaf')`
	var page, size int64
	err := errors.Join(
		r.db.QueryRowContext(t.Context(), query, table).Scan(&page),
		r.db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size),
		r.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[(page-1)*size:page*size], strings.Repeat("\xff", int(size)))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The remaining parts of a team do not wait for lost ones.
func TestSalvageMends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	writeTeams(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	raw(t, dir, "DELETE FROM teams WHERE name = 'red'; DELETE FROM agents WHERE id = 'agent-abc123'")
	raw(t, dir, "INSERT INTO task_deps VALUES ('red', 2, 9); INSERT INTO messages (team, sender, recipient, type, body, time_ns) VALUES ('green', 'a', 'b', 'plain', '', 5)")
	got := readTeams(t, rebuild(t, dir))
	all := teamsOfFixture()
	want := []Team{{Name: "blue", Created: all.Teams[0].Created}, {Name: "green", Created: time.Unix(0, 5)}, {Name: "red", Created: all.Agents[1].Created}}
	if diff := cmp.Diff(want, got.Teams); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
	waiting := all.Tasks[1]
	waiting.Warning = "A task that it waited for was lost"
	if diff := cmp.Diff([]Task{all.Tasks[0], waiting}, got.Tasks); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// A rebuild needs the memory of a few rows, however long the history and the messages are.
func TestSalvageMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	const n = 60000
	many(t, dir, n)
	change(t, r, func(ctx context.Context, tx *Tx) error {
		err := tx.InsertTeam(ctx, &Team{Name: "red"})
		for range 300 {
			m := Message{Team: "red", Sender: "leader", Recipient: "leader", Type: MessagePlain, Body: strings.Repeat("x", 32<<10)}
			err = errors.Join(err, tx.AddMessage(ctx, &m))
		}
		return err
	})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	salvaged := Salvage(t.Context(), filepath.Join(dir, File))
	defer salvaged.Close()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most, seen := uint64(0), 0
	salvaged.Seen = func(Event) {
		if seen++; seen%5000 == 0 || seen == 1 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}
	salvaged.Then = func() []Event { return []Event{{Time: time.Unix(n, 0), ID: "last", Worker: "last", Kind: "SPAWNED"}} }
	to := t.TempDir()
	err := Build(t.Context(), to, nil, salvaged)
	if grown := int64(most) - int64(before.HeapAlloc); err != nil || seen != n || grown > 4<<20 {
		t.Errorf("%d events, %d KiB more: %v", seen, grown>>10, err)
	}
	rebuilt := openTest(t, to)
	if last, err := rebuilt.LastEvent(t.Context()); err != nil || last != n+1 {
		t.Errorf("the last event is %d: %v", last, err)
	}
}

// The events on both sides of a page that can't be read are kept.
func TestSalvageEventsAroundADamagedPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openTest(t, dir)
	const n = 5000
	many(t, dir, n)
	damageMiddle(t, r, dir, "events")
	rebuilt := rebuild(t, dir)
	events := allEvents(t, rebuilt)
	if len(events) < n-500 || len(events) >= n || events[0].Seq != 1 || events[len(events)-1].Seq != n {
		t.Errorf("%d events, %d to %d", len(events), events[0].Seq, events[len(events)-1].Seq)
	}
}
