package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	// Ids go on where they were.
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
	if err := Build(t.Context(), to, nil, Salvage(t.Context(), filepath.Join(dir, File))); err != nil {
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
	var page, size int64
	for query, into := range map[string]*int64{"SELECT rootpage FROM sqlite_schema WHERE name = 'messages'": &page, "PRAGMA page_size": &size} {
		if err := r.db.QueryRowContext(t.Context(), query).Scan(into); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, File)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The pages of messages come after all roots. Of those one in the middle.
	pages := int64(len(data)) / size
	middle := (page + pages) / 2
	copy(data[(middle-1)*size:middle*size], strings.Repeat("\xff", int(size)))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got := readTeams(t, rebuild(t, dir))
	if n := len(got.Messages); n < many-20 || n >= many || got.Messages[0].ID != 1 || got.Messages[n-1].ID != many {
		t.Errorf("%d messages, %d to %d", n, got.Messages[0].ID, got.Messages[n-1].ID)
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

// The teams of a database with an old schema are saved as a migration would keep them.
func TestSalvageOfOlderSchema(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= Schema; schema++ {
		if diff := cmp.Diff(teamsOf(schema), readTeams(t, rebuild(t, olderSchema(t, schema)))); diff != "" {
			t.Errorf("schema %d (-want +got):\n%s", schema, diff)
		}
	}
}
