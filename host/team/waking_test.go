package team

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
)

// unread returns what waits for the agent of a squad.
func (q squad) unread(name string) (w registry.Unread) {
	q.t.Helper()
	q.change(func(ctx context.Context, tx *registry.Tx) (err error) {
		w, err = tx.CountWaiting(ctx, crewTeam, "agent-"+name)
		return err
	})
	return w
}

// made makes a task for a member, as a caller.
func (q squad) made(caller Caller, assignee string) (id string, err error) {
	err = q.try(func(ctx context.Context, tx *registry.Tx) error {
		task, err := CreateTask(ctx, tx, caller, crewTeam, NewTask{Title: "t", Assignee: assignee}, now)
		id = TaskID(task.N)
		return err
	})
	return id, err
}

func (q squad) claims(caller Caller, id string) error {
	return q.try(func(ctx context.Context, tx *registry.Tx) error {
		_, err := ClaimTask(ctx, tx, caller, crewTeam, id, now)
		return err
	})
}

// A task that is for one is claimed by that one, or by the leader.
func TestTasksForOne(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "ann", "bob", "boss")
	id, err := q.made(as("bob"), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if got := q.task(id); got.Assignee != "agent-ann" || got.How != "" {
		t.Errorf("it is for %q, brought by %q", got.Assignee, got.How)
	}
	if w := q.unread("ann"); w.Tasks != 1 {
		t.Errorf("waiting: %+v", w)
	}
	refused(t, "Task task-1 is not available (it is for ann)", q.claims(as("bob"), id))
	if err := q.claims(as("ann"), id); err != nil {
		t.Error(err)
	}
	if w := q.unread("ann"); w.Tasks != 0 {
		t.Errorf("after the claim: %+v", w)
	}
	id, _ = q.made(person, "agent-ann")
	if err := q.claims(as("boss"), id); err != nil {
		t.Errorf("the leader: %v", err)
	}
	// An agent that creates a task for itself is not notified of it.
	id, err = q.made(as("bob"), "bob")
	if got := q.task(id); err != nil || got.How != registry.DeliveredRead {
		t.Errorf("one's own: brought by %q, %v", got.How, err)
	}
	id, err = q.made(person, All)
	if got := q.task(id); err != nil || got.Assignee != "" {
		t.Errorf("of any: %q, %v", got.Assignee, err)
	}
	_, err = q.made(person, "ghost")
	refused(t, "Assignee 'ghost' is not a member of team 'red'", err)
	if !errors.Is(err, ErrNoRecipient) {
		t.Error(err)
	}
}

func TestTasksAreReleasedToOne(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "ann", "bob")
	id, _ := q.made(person, "")
	update := func(caller Caller, c TaskChange) error {
		return q.try(func(ctx context.Context, tx *registry.Tx) error {
			_, err := UpdateTask(ctx, tx, caller, crewTeam, id, c, later)
			return err
		})
	}
	if err := update(as("bob"), TaskChange{Assignee: "ann"}); err != nil || q.unread("ann").Tasks != 1 {
		t.Errorf("%v, waiting: %+v", err, q.unread("ann"))
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		return tx.Bring(ctx, registry.Membership{Team: crewTeam, Member: "agent-ann"}, registry.DeliveredNudge, now)
	})
	if err := update(person, TaskChange{Assignee: "bob"}); err != nil || q.unread("bob").Tasks != 1 {
		t.Errorf("%v, waiting: %+v", err, q.unread("bob"))
	}
	if err := update(person, TaskChange{Assignee: All}); err != nil || q.task(id).Assignee != "" {
		t.Errorf("%v: %+v", err, q.task(id))
	}
	if err := q.claims(as("ann"), id); err != nil {
		t.Fatal(err)
	}
	refused(t, "Task task-1 is not available (status: in_progress)", update(person, TaskChange{Assignee: "bob"}))
}

// The end of a member frees what is for it; a new process of it is notified anew.
func TestWhatIsForOneThatEnds(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "ann", "bob")
	member := registry.Membership{Team: crewTeam, Member: "agent-ann"}
	pending, _ := q.made(person, "ann")
	claimed, _ := q.made(person, "ann")
	if err := q.claims(as("ann"), claimed); err != nil {
		t.Fatal(err)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Send(ctx, tx, person, crewTeam, "ann", "hello", now)
		return errors.Join(err, tx.Bring(ctx, member, registry.DeliveredNudge, now))
	})
	if w := q.unread("ann"); !w.Nothing() {
		t.Errorf("all is brought: %+v", w)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Lost(ctx, tx, "agent-ann", "exit status 1", now)
		return err
	})
	// No one waits for one whose process is gone.
	if err := q.claims(as("bob"), claimed); err != nil {
		t.Errorf("a task of one that is lost: %v", err)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		return Rejoin(ctx, tx, "agent-ann", "w-2", "red-ann", "t-2", now)
	})
	if diff := cmp.Diff(registry.Unread{Messages: 1, Tasks: 1}, q.unread("ann")); diff != "" {
		t.Errorf("with another process (-want +got):\n%s", diff)
	}
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		_, err := Release(ctx, tx, "agent-ann", Departure{Phase: registry.ShutdownForceKilled}, now)
		return err
	})
	if got := q.task(pending); got.Assignee != "" {
		t.Errorf("a task of one that has ended is for %q", got.Assignee)
	}
}

// A worker is woken for its agent and for the teams that it leads, if what waits is not
// quiet.
func TestMayWake(t *testing.T) {
	t.Parallel()
	q := newSquad(t, "ann")
	want := func(what string, want bool) {
		t.Helper()
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			got, err := MayWake(ctx, tx, "w-ann")
			if got != want {
				t.Errorf("%s: %t", what, got)
			}
			return err
		})
	}
	send := func(quiet bool) {
		q.change(func(ctx context.Context, tx *registry.Tx) error {
			tx.Quiet = quiet
			_, err := Send(ctx, tx, person, crewTeam, All, "x", now)
			return err
		})
	}
	want("nothing", false)
	send(true)
	want("a quiet message", false)
	send(false)
	want("one that is not", true)
	var workers []string
	q.change(func(ctx context.Context, tx *registry.Tx) error {
		for _, member := range []string{"agent-ann", "agent-gone", Leader} {
			w, err := WorkerOf(ctx, tx, &registry.Team{LeaderWorker: "w-lead"}, member)
			if err != nil {
				return err
			}
			workers = append(workers, w)
		}
		return nil
	})
	if want := []string{"w-ann", "", "w-lead"}; !slices.Equal(workers, want) {
		t.Errorf("workers %q, want %q", workers, want)
	}
}
