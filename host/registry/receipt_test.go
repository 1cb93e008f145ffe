package registry

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// waitingRig is a team with an agent "ann", for whom nothing is waiting.
type waitingRig struct {
	*testing.T
	r *Registry
}

var ann = Membership{Team: "red", Member: "ann"}

func newWaitingRig(t *testing.T) waitingRig {
	r := openTest(t, t.TempDir())
	change(t, r, func(ctx context.Context, tx *Tx) error { return tx.InsertTeam(ctx, &Team{Name: "red"}) })
	return waitingRig{t, r}
}

func (w waitingRig) message(kind MessageType, quiet bool) (id int64) {
	w.Helper()
	change(w.T, w.r, func(ctx context.Context, tx *Tx) error {
		m := Message{Team: "red", Sender: "leader", Recipient: "ann", Type: kind, Body: "x", Receipt: Receipt{Quiet: quiet}}
		defer func() { id = m.ID }()
		return tx.AddMessage(ctx, &m)
	})
	return id
}

func (w waitingRig) task(t Task) (n int) {
	w.Helper()
	t.Team, t.Title, t.Priority = "red", "t", PriorityNormal
	if t.Status == "" {
		t.Status = TaskPending
	}
	change(w.T, w.r, func(ctx context.Context, tx *Tx) error { return tx.AddTask(ctx, &t) })
	return t.N
}

func (w waitingRig) do(f func(context.Context, *Tx) error) {
	w.Helper()
	change(w.T, w.r, f)
}

func (w waitingRig) want(what string, want Unread, toWake ...string) {
	w.Helper()
	w.do(func(ctx context.Context, tx *Tx) error {
		got, err := tx.CountWaiting(ctx, ann.Team, ann.Member)
		if diff := cmp.Diff(want, got); diff != "" {
			w.Errorf("%s (-want +got):\n%s", what, diff)
		}
		members, werr := tx.ToWake(ctx, "red")
		if !slices.Equal(toWake, members) {
			w.Errorf("%s: %q are to be woken, want %q", what, members, toWake)
		}
		return errors.Join(err, werr)
	})
}

func TestWhatIsWaiting(t *testing.T) {
	t.Parallel()
	w := newWaitingRig(t)
	w.want("nothing", Unread{})
	w.message(MessagePlain, true)
	w.want("a quiet message", Unread{Messages: 1})
	last := w.message(MessagePlain, false)
	w.want("two messages", Unread{Messages: 2}, "ann")
	w.task(Task{}) // of any
	first := w.task(Task{Assignee: "bob"})
	second := w.task(Task{Assignee: "ann", Needs: []int{first}})
	w.want("a task that waits for another", Unread{Messages: 2}, "ann", "bob")
	w.do(func(ctx context.Context, tx *Tx) error {
		return tx.MarkRead(ctx, "red", "ann", 1, last, time.Unix(9, 0))
	})
	w.want("both read", Unread{}, "bob")
	w.do(func(ctx context.Context, tx *Tx) error {
		task, err := tx.Task(ctx, "red", first)
		task.Status = TaskCompleted
		return errors.Join(err, tx.PutTask(ctx, &task))
	})
	w.want("the task is free", Unread{Tasks: 1}, "ann")
	w.do(func(ctx context.Context, tx *Tx) error {
		task, err := tx.Task(ctx, "red", second)
		task.Status, task.Owner = TaskInProgress, "ann"
		return errors.Join(err, tx.PutTask(ctx, &task))
	})
	w.want("it is claimed", Unread{})
	w.task(Task{Assignee: "ann", Receipt: Receipt{Quiet: true}})
	w.want("a quiet task", Unread{Tasks: 1})
	w.do(func(ctx context.Context, tx *Tx) error { return tx.Unassign(ctx, ann) })
	w.want("it is of any", Unread{})
}

func TestAWaitingRequest(t *testing.T) {
	t.Parallel()
	w := newWaitingRig(t)
	w.message(MessageShutdownRequest, false)
	w.want("a request that no call waits for", Unread{Messages: 1}, "ann")
	s := Shutdown{Team: "red", AgentID: "ann", Phase: ShutdownRequested}
	w.do(func(ctx context.Context, tx *Tx) error { return tx.InsertShutdown(ctx, &s) })
	w.want("an open one", Unread{Messages: 1, Shutdown: true}, "ann")
	s.Phase = ShutdownRejected
	w.do(func(ctx context.Context, tx *Tx) error { return tx.PutShutdown(ctx, &s) })
	w.want("an answered one", Unread{Messages: 1}, "ann")
}

// A message that was brought waits no longer; one that came while a line was typed does.
func TestBringing(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 7)
	for _, tt := range []struct {
		name string
		how  Delivery
		// again says that it waits again afterwards.
		again bool
	}{
		{"taken", DeliveredNudge, false},
		{"not proven", DeliveredUnproven, false},
		{"not typed", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWaitingRig(t)
			w.message(MessagePlain, true)
			n := w.task(Task{Assignee: "ann"})
			w.do(func(ctx context.Context, tx *Tx) error { return tx.Bring(ctx, ann, DeliveredNudging, now) })
			w.want("while it is typed", Unread{})
			late := w.message(MessagePlain, false)
			w.do(func(ctx context.Context, tx *Tx) error { return tx.EndNudging(ctx, ann, tt.how, now) })
			if tt.again {
				w.want("after it", Unread{Messages: 2, Tasks: 1}, "ann")
			} else {
				w.want("after it", Unread{Messages: 1}, "ann")
			}
			want := Receipt{How: tt.how, Delivered: now}
			if tt.again {
				want.Delivered = time.Time{}
			}
			w.do(func(ctx context.Context, tx *Tx) error {
				task, err := tx.Task(ctx, "red", n)
				if diff := cmp.Diff(want, task.Receipt); diff != "" {
					t.Errorf("task (-want +got):\n%s", diff)
				}
				return errors.Join(err, tx.MarkRead(ctx, "red", "ann", late, late, now))
			})
			// For a new process, read messages stay read, and messages that were only
			// brought wait again.
			w.do(func(ctx context.Context, tx *Tx) error { return tx.BringAgain(ctx, ann) })
			w.want("with another process", Unread{Messages: 1, Tasks: 1}, "ann")
			w.do(func(ctx context.Context, tx *Tx) error {
				got, _, err := tx.Messages(ctx, MessageQuery{Team: "red", Recipient: "ann", Limit: 9, Bytes: 99})
				want := []Receipt{{Quiet: true}, {How: DeliveredRead, Delivered: now}}
				if diff := cmp.Diff(want, []Receipt{got[0].Receipt, got[1].Receipt}); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				return err
			})
		})
	}
}

func TestNudges(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	rec := bare("w")
	n := Nudge{Text: "swarm: 1 new message", Begun: time.Unix(1700000000, 5)}
	change(t, r, func(ctx context.Context, tx *Tx) error {
		err := errors.Join(tx.Insert(ctx, &rec), tx.BeginNudge(ctx, "gone", n), tx.BeginNudge(ctx, rec.ID, n))
		got, gerr := tx.Nudge(ctx, rec.ID)
		if diff := cmp.Diff(n, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := tx.Nudge(ctx, "gone"); !errors.Is(err, ErrNotFound) {
			t.Errorf("that of a worker that is gone: %v", err)
		}
		return errors.Join(err, gerr, tx.EndNudge(ctx, rec.ID))
	})
	change(t, r, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.Nudge(ctx, rec.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("a worker that has ended: %v", err)
		}
		return nil
	})
}
