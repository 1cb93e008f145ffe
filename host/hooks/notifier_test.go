package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/shared/swarm"
)

var (
	first  = NewNotifier("first", []string{Ended}, nil)
	second = NewNotifier("second", []string{Ended}, nil)
)

// A notifier that says later gets no later event before that one, over a restart too, and holds up
// neither another notifier nor a hook. It is never given up.
func TestLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	later := func(_ context.Context, run string) (Result, error) {
		if strings.HasPrefix(run, "first 1 ") {
			return Result{Failure: "no network"}, nil
		}
		return Result{}, nil
	}
	r.set(later)
	o := r.options(first, second, ends)
	runner, stop := r.startWith(o)
	r.add(history.Failed, history.Exited)
	runner.Wake()
	// of returns the runs of the first notifier so far, or of everything else.
	of := func(first bool) []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.DeleteFunc(slices.Clone(r.runs), func(run string) bool { return strings.HasPrefix(run, "first") != first })
	}
	until := func(ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the runs are %q, %q", of(true), of(false))
			}
		}
	}
	others := []string{"ends 1 1", "ends 2 1", "second 1 1", "second 2 1"}
	until(func() bool { return len(of(true)) >= 5 && len(of(false)) >= len(others) })
	stop()
	before := of(true)
	_, stop = r.startWith(o)
	until(func() bool { return len(of(true)) >= len(before)+3 })
	stop()
	if got := of(false); !slices.Equal(slices.Sorted(slices.Values(got)), others) {
		t.Errorf("the others: %q", got)
	}
	if slices.Contains(of(true), "first 2 1") {
		t.Error("an event came before the one that is to be delivered later")
	}
	r.set(func(context.Context, string) (Result, error) { return Result{}, nil })
	_, stop = r.startWith(o)
	defer stop()
	until(func() bool { return slices.Contains(of(true), "first 2 1") })
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range r.said { // once for each process
		if !strings.HasPrefix(text, "notifier 'first' can't deliver event 1-") || !strings.Contains(text, "now: no network; ") {
			t.Errorf("said: %s", text)
		}
	}
	if len(r.said) != 2 {
		t.Errorf("said: %q", r.said)
	}
}

// An event that can never be delivered is dropped, which is said once.
func TestNever(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(func(_ context.Context, run string) (Result, error) {
		if strings.HasPrefix(run, "first 1 ") {
			return Result{Failure: "never"}, nil
		}
		return Result{}, nil
	})
	runner, stop := r.start(first)
	r.add(history.Failed, history.Failed)
	runner.Wake()
	r.await("first 1 1", "first 2 1")
	stop()
	if len(r.said) != 1 || !strings.HasPrefix(r.said[0], "notifier 'first' never delivers event 1-") || !strings.HasSuffix(r.said[0], `: a\x1b[2Jb`) {
		t.Errorf("said: %q", r.said)
	}
}

// An error is later, and the end of the runner in a delivery repeats it.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(func(ctx context.Context, run string) (Result, error) {
		switch run {
		case "first 1 1":
			return Result{}, errors.New("the plugin has ended")
		case "first 1 2":
			<-ctx.Done()
			return Result{}, ctx.Err()
		}
		return Result{}, nil
	})
	runner, stop := r.start(first)
	r.add(history.Failed)
	runner.Wake()
	r.await("first 1 1", "first 1 2")
	stop()
	r.set(func(context.Context, string) (Result, error) { return Result{}, nil })
	_, stop = r.start(first)
	defer stop()
	r.await("first 1 1", "first 1 2", "first 1 2")
}

// The time that a notifier asks for has bounds.
func TestNext(t *testing.T) {
	t.Parallel()
	q := &queue{Runner: New(Options{Hooks: []Hook{first}}), hook: &first}
	for what, c := range map[string]struct {
		tries int
		asked time.Duration // 0: none
		want  time.Duration
	}{
		"none":      {2, 0, Delays[1]},
		"none long": {99, 0, Delays[len(Delays)-1]},
		"asked":     {1, time.Hour, time.Hour},
		"past":      {1, -time.Hour, Delays[0]},
		"far":       {1, 1000 * time.Hour, swarm.MaxNotifyDelay},
	} {
		var asked time.Time
		if c.asked != 0 {
			asked = time.Now().Add(c.asked)
		}
		before := time.Now()
		got := q.next(c.tries, asked)
		if got.Before(before.Add(c.want-time.Minute)) || got.After(time.Now().Add(c.want)) {
			t.Errorf("%s: in %s, want %s", what, got.Sub(before), c.want)
		}
	}
}

// TestEventOfNotifier checks the event that the plugin gets.
func TestEventOfNotifier(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := make(chan swarm.Event, 1)
	o := r.options(NewNotifier("first", []string{Failed, Ended}, []string{"x"}))
	o.Notifiers = notify(func(e swarm.Event) { got <- e })
	runner, stop := r.startWith(o)
	defer stop()
	r.addTagged(history.Failed, []string{"y"})
	r.addTagged(history.Failed, []string{"x", "y"})
	runner.Wake()
	e := <-got
	if e.Time.IsZero() || e.ID != "2-"+e.WorkerID {
		t.Errorf("%+v", e)
	}
	want := swarm.Event{
		ID: e.ID, Time: e.Time, Kind: "FAILED", Worker: "w", WorkerID: e.WorkerID, Final: true, Tags: []string{"x", "y"},
		On: []string{Failed, Ended}, Attempt: 1,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type notify func(swarm.Event)

func (n notify) Notify(_ context.Context, _ string, e swarm.Event) (swarm.NotifyAnswer, error) {
	n(e)
	return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
}
