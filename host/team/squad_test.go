package team

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// squad is a team whose agents were spawned by the rules: the agent of name a is
// agent-a, lives in worker w-a, which is called red-a, and has the token t-a.
type squad struct {
	t   *testing.T
	dir string
	reg *registry.Registry
}

func newSquad(t *testing.T, names ...string) squad {
	t.Helper()
	dir := t.TempDir()
	reg, err := registry.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	q := squad{t, dir, reg}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Create(ctx, tx, person, New{Name: crewTeam}, now)
		return err
	})
	for _, name := range names {
		q.enter(name)
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			return Activate(ctx, tx, "agent-"+name, "%"+name, now)
		})
	}
	return q
}

// enter makes an agent that is spawning.
func (q squad) enter(name string) {
	q.t.Helper()
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, _, err := Join(ctx, tx, entryOf(name), "w-"+name, "red-"+name, "t-"+name, now)
		return err
	})
}

func entryOf(name string) Entry {
	return Entry{Team: crewTeam, ID: "agent-" + name, Name: name, Role: as(name).Role, Model: "m", Dir: "/d", Prompt: "p"}
}

// change makes a change that must be possible.
func (q squad) change(change func(context.Context, *registry.Tx) error) {
	q.t.Helper()
	if err := q.reg.Change(q.t.Context(), change); err != nil {
		q.t.Fatal(err)
	}
}

// try makes a change that may be refused, and changes nothing then.
func (q squad) try(change func(context.Context, *registry.Tx) error) error {
	return q.reg.Change(q.t.Context(), change)
}

func (q squad) agent(name string) registry.Agent {
	q.t.Helper()
	var a registry.Agent
	q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
		a, err = tx.Agent(ctx, "agent-"+name)
		return err
	})
	return a
}

// put changes an agent against all rules.
func (q squad) put(name string, edit func(*registry.Agent)) {
	q.t.Helper()
	a := q.agent(name)
	edit(&a)
	q.change(func(ctx context.Context, tx *registry.Tx) error { return tx.PutAgent(ctx, &a) })
}

// shutdown is the newest one of an agent; one without an ID if there is none.
func (q squad) shutdown(name string) registry.Shutdown {
	q.t.Helper()
	var s registry.Shutdown
	q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
		s, err = tx.LastShutdown(ctx, "agent-"+name)
		if errors.Is(err, registry.ErrNotFound) {
			return nil
		}
		return err
	})
	return s
}

// spoil runs SQL behind the registry's back.
func (q squad) spoil(query string) {
	q.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(q.dir, registry.File))
	if err == nil {
		_, err = db.ExecContext(q.t.Context(), query)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		q.t.Fatal(err)
	}
}

// inbox is all that a member was ever written.
func (q squad) inbox(member string) []registry.Message {
	q.t.Helper()
	var messages []registry.Message
	q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
		messages, _, err = tx.Messages(ctx, registry.MessageQuery{Team: crewTeam, Recipient: member, Limit: 1000, Bytes: 1 << 20})
		return err
	})
	return messages
}

// works gives an agent a task that it works on, and returns the task's id.
func (q squad) works(name string) string {
	q.t.Helper()
	var id string
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		task, err := CreateTask(ctx, tx, person, crewTeam, NewTask{Title: "t"}, now)
		if err != nil {
			return err
		}
		id = TaskID(task.N)
		_, err = ClaimTask(ctx, tx, as(name), crewTeam, id, now)
		return err
	})
	return id
}

func (q squad) task(id string) registry.Task {
	q.t.Helper()
	var task registry.Task
	q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
		task, err = tx.Task(ctx, crewTeam, taskNumber(id))
		return err
	})
	return task
}

// at is so long after now.
func at(d time.Duration) time.Time { return now.Add(d) }
