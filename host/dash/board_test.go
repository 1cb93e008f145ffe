package dash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fake is a host whose workers a test changes.
type fake struct {
	mu      sync.Mutex
	workers []worker.Worker
	// asked are the selections of the calls so far; all is "*".
	asked  [][]string
	events chan registry.Event
	// stopped gets the ids of workers that run no more without an event.
	stopped chan string
}

func newFake(ws ...worker.Worker) *fake {
	return &fake{workers: ws, events: make(chan registry.Event), stopped: make(chan string)}
}

func (f *fake) Workers(_ context.Context, sel worker.Selection) (ws []worker.Worker, _ []string, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sel.All {
		f.asked = append(f.asked, []string{"*"})
		return slices.Clone(f.workers), nil, nil
	}
	slices.Sort(sel.Names)
	f.asked = append(f.asked, sel.Names)
	for _, id := range sel.Names {
		i := slices.IndexFunc(f.workers, func(w worker.Worker) bool { return w.ID == id })
		if i < 0 {
			return nil, nil, &store.NotFoundError{Name: id}
		}
		ws = append(ws, f.workers[i])
	}
	return ws, nil, nil
}

func (f *fake) Watch(ctx context.Context, req watch.Request) error {
	req.Ready()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-f.events:
			if err := req.Event(e); err != nil {
				return err
			}
		case id := <-f.stopped:
			req.Stopped(id)
		}
	}
}

// set replaces a worker, and reports it.
func (f *fake) set(w worker.Worker) {
	f.mu.Lock()
	f.workers = slices.DeleteFunc(f.workers, func(o worker.Worker) bool { return o.Name == w.Name })
	f.workers = append(f.workers, w)
	f.mu.Unlock()
	f.events <- registry.Event{ID: w.ID}
}

func (f *fake) calls() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

func runningWorker(name string) worker.Worker {
	return worker.Worker{Spec: registry.Spec{ID: "id-" + name, Name: name}, Status: worker.StatusRunning, PID: 7}
}

func ended(name string, code int, cause swarm.Cause) worker.Worker {
	return worker.Worker{Spec: registry.Spec{ID: "id-" + name, Name: name}, Status: worker.StatusStopped, Exit: &swarm.Exit{Code: code, Cause: cause}}
}

func names(s Snapshot) (names []string) {
	for _, i := range s.Items {
		names = append(names, i.Name)
	}
	return names
}

// TestBoard: an event makes the board ask for its worker alone, and nothing is asked while
// nothing happens.
func TestBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(runningWorker("a"), runningWorker("b"))
		b := New(f, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { b.Run(ctx) })
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"a", "b"}, names(b.Snapshot())); diff != "" {
			t.Errorf("after the start (-want +got):\n%s", diff)
		}
		f.calls()
		time.Sleep(time.Hour)
		if calls := f.calls(); len(calls) > 0 {
			t.Errorf("nothing happened, and the host was asked for %v", calls)
		}
		f.set(ended("b", 3, swarm.CauseExited))
		time.Sleep(time.Second)
		if diff := cmp.Diff([][]string{{"id-b"}}, f.calls()); diff != "" {
			t.Errorf("asked for (-want +got):\n%s", diff)
		}
		s := b.Snapshot()
		if s.Items[0].Name != "b" || s.Items[0].State.Word != "exited 3" || s.Items[0].State.Urgency != Failed {
			t.Errorf("the worker that failed is %+v, want it first", s.Items[0].State)
		}
		b.See("id-b")
		if s := b.Snapshot(); s.Items[1].Name != "b" || s.Items[1].State.Urgency != Ended {
			t.Errorf("once seen it is in the order %v", names(s))
		}
		// The shim of the other one is killed, and what it started lives on.
		f.mu.Lock()
		i := slices.IndexFunc(f.workers, func(w worker.Worker) bool { return w.Name == "a" })
		f.workers[i].Status = worker.StatusLost
		f.mu.Unlock()
		f.stopped <- "id-a"
		time.Sleep(time.Second)
		if s := b.Snapshot(); s.Items[0].Name != "a" || s.Items[0].State.Urgency != Lost {
			t.Errorf("a lost worker is not the first: %v", names(s))
		}
		// One that is gone says nothing of the others.
		f.mu.Lock()
		f.workers = f.workers[:1]
		f.mu.Unlock()
		f.events <- registry.Event{ID: "id-b"}
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"a"}, names(b.Snapshot())); diff != "" {
			t.Errorf("after a clean (-want +got):\n%s", diff)
		}
		cancel()
		wg.Wait()
	})
}

// TestBoardRestarts: no event reports that a worker waits for its restart, so one that was
// started again a short time ago is asked now and then, and no other.
func TestBoardRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := runningWorker("flaky")
		w.Restart = swarm.Restart{When: swarm.RestartAlways, Window: time.Minute}
		w.Restarts, w.Started = 1, time.Now()
		f := newFake(w, runningWorker("calm"))
		b := New(f, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { b.Run(ctx) })
		time.Sleep(10 * time.Second)
		f.calls()
		f.mu.Lock()
		f.workers[0].PID, f.workers[0].Reason = 0, "restarts in 4s"
		f.mu.Unlock()
		time.Sleep(3 * time.Second)
		for _, call := range f.calls() {
			if !slices.Equal(call, []string{"id-flaky"}) {
				t.Errorf("asked for %v", call)
			}
		}
		if i, _ := b.Snapshot().Find("id-flaky"); i.State.Word != "restarting" {
			t.Errorf("it is %q", i.State.Word)
		}
		f.mu.Lock()
		f.workers[0].PID = 8
		f.mu.Unlock()
		time.Sleep(2 * time.Minute)
		f.calls()
		time.Sleep(time.Hour)
		if calls := f.calls(); len(calls) > 0 {
			t.Errorf("it runs for long, and the host was asked for %v", calls)
		}
		cancel()
		wg.Wait()
	})
}

// TestManyChanges: many changes at a time are one look at all workers.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for i := range 200 {
			f.workers = append(f.workers, runningWorker(fmt.Sprintf("w%d", i)))
		}
		b := New(f, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { b.Run(ctx) })
		time.Sleep(time.Second)
		f.calls()
		for i := range 200 {
			f.events <- registry.Event{ID: fmt.Sprintf("id-w%d", i)}
		}
		time.Sleep(time.Second)
		if diff := cmp.Diff([][]string{{"*"}}, f.calls()); diff != "" {
			t.Errorf("asked for (-want +got):\n%s", diff)
		}
		cancel()
		wg.Wait()
	})
}

func TestStates(t *testing.T) {
	t.Parallel()
	agent := func(s judgement.State) worker.Worker {
		w := runningWorker("a")
		w.State = &s
		return w
	}
	killed := ended("a", -1, swarm.CauseKilled)
	killed.Exit.Signal = "SIGTERM"
	crashed := ended("a", -1, swarm.CauseExited)
	crashed.Exit.Signal = "SIGSEGV"
	done := ended("a", 1, swarm.CauseExited)
	done.Completion = &swarm.Completion{}
	for _, c := range []struct {
		w       worker.Worker
		word    string
		urgency Urgency
	}{
		{runningWorker("a"), "running", Running},
		{worker.Worker{Status: worker.StatusStarting}, "starting", Running},
		{worker.Worker{Status: worker.StatusLost}, "lost", Lost},
		{worker.Worker{Status: worker.StatusUnknown}, "unknown", Lost},
		{worker.Worker{Status: worker.StatusStopped}, "exit unknown", Failed},
		{agent(judgement.State{State: profile.Blocked}), "blocked", Attention},
		{agent(judgement.State{State: profile.Broken, Broken: "API error"}), "broken", Attention},
		{agent(judgement.State{State: profile.Limited}), "limited", Attention},
		{agent(judgement.State{State: profile.Background}), "background", Running},
		{agent(judgement.State{State: profile.Working}), "working", Running},
		{ended("a", 0, swarm.CauseExited), "exited 0", Ended},
		{ended("a", 2, swarm.CauseExited), "exited 2", Failed},
		{ended("a", 2, swarm.CauseCrashLoop), "crash loop", CrashLoop},
		{ended("a", -1, swarm.CauseNotStarted), "not started", Failed},
		{killed, "killed", Ended},
		{crashed, "killed SIGSEGV", Failed},
		{done, "completed", Ended},
	} {
		if s := stateOf(&c.w, false); s.Word != c.word || s.Urgency != c.urgency {
			t.Errorf("%s %+v: %q %v, want %q %v", c.w.Status, c.w.Exit, s.Word, s.Urgency, c.word, c.urgency)
		}
	}
}

// Questions of agents come first, the oldest question before the others.
func TestQuestionsComeFirst(t *testing.T) {
	t.Parallel()
	asks := func(name string, since time.Time) Item {
		w := runningWorker(name)
		w.State = &judgement.State{State: profile.Blocked, Since: since}
		return Item{Worker: w, State: stateOf(&w, false)}
	}
	broken := runningWorker("a")
	broken.State = &judgement.State{State: profile.Idle, Broken: "API error"}
	items := []Item{
		{Worker: runningWorker("b"), State: State{Urgency: Running}},
		{Worker: broken, State: stateOf(&broken, false)},
		asks("c", time.Time{}), asks("d", time.Unix(2, 0)), asks("e", time.Unix(1, 0)), asks("f", time.Unix(2, 0)),
	}
	slices.SortFunc(items, byUrgency)
	var names []string
	for _, i := range items {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "e d f c a b" {
		t.Errorf("the order is %s", got)
	}
}
