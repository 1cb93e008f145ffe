package dash

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
)

// unsteady is a host whose reads can fail, or wait, and whose registry changes without events.
type unsteady struct {
	*fake
	changed chan bool
	// slow, if not nil, is received from before a read returns what it found.
	slow chan struct{}
	err  error
}

func (u *unsteady) Workers(ctx context.Context, sel worker.Selection) ([]worker.Worker, []string, error) {
	u.mu.Lock()
	slow, err := u.slow, u.err
	u.mu.Unlock()
	ws, warnings, found := u.fake.Workers(ctx, sel)
	if slow != nil {
		<-slow
	}
	return ws, warnings, errors.Join(err, found)
}

func (u *unsteady) Watch(ctx context.Context, req watch.Request) error {
	req.Ready()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-u.events:
			if err := req.Event(e); err != nil {
				return err
			}
		case all := <-u.changed:
			req.Changed(all)
		}
	}
}

func (u *unsteady) do(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f()
}

func inBubble(t *testing.T, f func(t *testing.T, u *unsteady, b *Board), ws ...worker.Worker) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		u := &unsteady{fake: newFake(ws...), changed: make(chan bool)}
		b := New(u, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { b.Run(ctx) })
		time.Sleep(time.Minute)
		u.calls()
		f(t, u, b)
		cancel()
		wg.Wait()
	})
}

func startingWorker(name string) worker.Worker {
	return worker.Worker{Spec: registry.Spec{ID: "id-" + name, Name: name}, Status: worker.StatusStarting}
}

// TestUndone: a worker whose spawn is undone is gone at once, although no event reports it,
// also if that happens while it is being read. A change of the registry is no reason to ask for
// any other worker.
func TestUndone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, u *unsteady, b *Board) {
		u.changed <- false
		time.Sleep(time.Second)
		if calls := u.calls(); len(calls) > 0 {
			t.Errorf("no worker is starting, and the host was asked for %v", calls)
		}
		u.set(startingWorker("z"))
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"a", "z"}, names(b.Snapshot())); diff != "" {
			t.Errorf("while it is starting (-want +got):\n%s", diff)
		}
		u.do(func() { u.workers = u.workers[:1] })
		u.changed <- false
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"a"}, names(b.Snapshot())); diff != "" {
			t.Errorf("after it was undone (-want +got):\n%s", diff)
		}
		// It is undone while a look at it is under way.
		slow := make(chan struct{})
		u.do(func() { u.slow = slow })
		u.set(startingWorker("y"))
		time.Sleep(time.Second)
		u.do(func() { u.workers, u.slow = u.workers[:1], nil })
		u.changed <- false
		time.Sleep(time.Second)
		close(slow)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"a"}, names(b.Snapshot())); diff != "" {
			t.Errorf("after it was undone meanwhile (-want +got):\n%s", diff)
		}
		// Another database may have other workers.
		u.do(func() { u.workers = append(u.workers, runningWorker("other")) })
		u.changed <- true
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"a", "other"}, names(b.Snapshot())); diff != "" {
			t.Errorf("of another registry (-want +got):\n%s", diff)
		}
	}, runningWorker("a"))
}

// TestFailedRead: a look that failed is repeated until one succeeds, and the problem is shown
// until then.
func TestFailedRead(t *testing.T) {
	t.Parallel()
	for _, some := range []bool{true, false} {
		inBubble(t, func(t *testing.T, u *unsteady, b *Board) {
			u.do(func() { u.err = errors.New("the disk has a bad day") })
			if some {
				u.set(ended("b", 3, ""))
			} else {
				u.do(func() { u.workers[1] = ended("b", 3, "") })
				b.touch()
			}
			time.Sleep(time.Second)
			if s := b.Snapshot(); s.Problem != "cannot read workers: the disk has a bad day" {
				t.Errorf("the problem is %q", s.Problem)
			}
			time.Sleep(time.Minute)
			if calls := len(u.calls()); calls < 10 || calls > 40 {
				t.Errorf("within a minute it was repeated %d times", calls)
			}
			u.do(func() { u.err = nil })
			time.Sleep(5 * time.Second)
			s := b.Snapshot()
			if i, _ := s.Find("id-b"); s.Problem != "" || i.State.Word != "exited 3" {
				t.Errorf("some %t: the problem is %q, the worker %q", some, s.Problem, i.State.Word)
			}
			if got := names(s); !slices.Contains(got, "a") {
				t.Errorf("workers %v", got)
			}
			u.calls()
			time.Sleep(time.Hour)
			if calls := u.calls(); len(calls) > 0 {
				t.Errorf("all is well, and the host was asked for %v", calls)
			}
		}, runningWorker("a"), runningWorker("b"))
	}
}
