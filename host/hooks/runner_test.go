package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rig is a history and the hooks that are run for it.
type rig struct {
	t   *testing.T
	dir string
	reg *registry.Registry

	mu sync.Mutex
	// runs are the runs so far, "hook seq attempt"; said is what the runner said to a person.
	runs, said []string
	// result is asked for the result of each run.
	result func(ctx context.Context, run string) (Result, error)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.open()
	r.result = func(context.Context, string) (Result, error) { return Result{}, nil }
	return r
}

func (r *rig) open() {
	r.t.Helper()
	reg, err := registry.Open(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.reg = reg
	r.t.Cleanup(func() { _ = reg.Close() })
}

// add writes events of the worker w.
func (r *rig) add(kinds ...registry.EventKind) {
	r.t.Helper()
	for _, kind := range kinds {
		r.addTagged(kind, nil)
	}
}

func (r *rig) addTagged(kind registry.EventKind, tags []string) {
	r.t.Helper()
	err := r.reg.Change(r.t.Context(), func(ctx context.Context, tx *registry.Tx) error {
		final := slices.Contains([]registry.EventKind{history.Failed, history.Died, history.Exited, history.Killed}, kind)
		_, err := tx.Append(ctx, registry.Event{
			Time: time.Now(), ID: fmt.Sprintf("id%d", time.Now().UnixNano()), Worker: "w", Kind: kind, Final: final, Tags: tags,
		})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// Input returns the text of a run.
func (r *rig) Input(d Delivery) ([]byte, error) {
	return fmt.Appendf(nil, "%s %d %d", d.Hook, d.Event.Seq, d.Attempt), nil
}

// Launch notes a run and returns its result.
func (r *rig) Launch(ctx context.Context, _ []string, c Call) (Result, error) {
	run := string(c.Input)
	r.mu.Lock()
	r.runs = append(r.runs, run)
	result := r.result
	r.mu.Unlock()
	return result(ctx, run)
}

// Notify notes a delivery and returns its answer: a failure whose text is "never" drops the event,
// and any other one is later.
func (r *rig) Notify(ctx context.Context, plugin string, e swarm.Event) (swarm.NotifyAnswer, error) {
	run := fmt.Sprintf("%s %s %d", plugin, strings.SplitN(e.ID, "-", 2)[0], e.Attempt)
	r.mu.Lock()
	r.runs = append(r.runs, run)
	result := r.result
	r.mu.Unlock()
	res, err := result(ctx, run)
	switch {
	case err != nil:
		return swarm.NotifyAnswer{}, err
	case res.Failure == "":
		return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
	case res.Failure == "never":
		return swarm.NotifyAnswer{Outcome: swarm.NotifyNever, Reason: "a\x1b[2Jb"}, nil
	}
	return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Reason: res.Failure}, nil
}

func (r *rig) options(hooks ...Hook) Options {
	return Options{
		Dir: r.dir, Home: "/", Hooks: hooks, Delays: []time.Duration{time.Millisecond, time.Millisecond},
		Commands: r, Notifiers: r,
		Say: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.said = append(r.said, text)
		},
	}
}

// start starts a runner, which ends with stop.
func (r *rig) start(hooks ...Hook) (runner *Runner, stop func()) {
	r.t.Helper()
	return r.startWith(r.options(hooks...))
}

func (r *rig) startWith(o Options) (runner *Runner, stop func()) {
	r.t.Helper()
	runner = New(o)
	if err := runner.Prepare(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			r.t.Errorf("it ended with %v", err)
		}
		if err := runner.Close(); err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(stop)
	return runner, stop
}

// await waits until there were n runs and checks all of them, in any order.
func (r *rig) await(want ...string) {
	r.t.Helper()
	get := func() []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Clone(r.runs)
	}
	for end := time.Now().Add(20 * time.Second); len(get()) < len(want) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // there may be more than wanted
	got := get()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Fatalf("runs (-want +got):\n%s", diff)
	}
}

func (r *rig) set(result func(ctx context.Context, run string) (Result, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = result
}

var (
	ends  = Hook{Name: "ends", On: []string{Ended}}
	fails = Hook{Name: "fails", On: []string{Failed, Lost}}
)

func TestWords(t *testing.T) {
	t.Parallel()
	for kind, want := range map[registry.EventKind]string{
		history.Failed: "failed ended", history.Died: "lost ended", history.Exited: "ended", history.Killed: "ended", history.Complete: "ended",
		history.CrashLoop: "crash-loop", history.Blocked: "blocked", history.Limited: "limited", history.Broken: "broken", history.RespawnFailed: "failed",
		history.Spawned: "", history.Idle: "", history.Cleaned: "", "SOMETHING NEW": "",
	} {
		final := strings.Contains(want, Ended)
		if got := strings.Join(Words(registry.Event{Kind: kind, Final: final}), " "); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	tagged := Hook{On: []string{Ended}, Tags: []string{"a", "b"}}
	if tagged.wants(registry.Event{Final: true}) != nil || tagged.wants(registry.Event{Final: true, Tags: []string{"c", "b"}}) == nil {
		t.Error("tags don't select")
	}
}

// A new hook is run for what happens from then on, and for what happens while no runner
// lives; each event once.
func TestCursor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(history.Failed) // 1: before there was a hook
	runner, stop := r.start(ends, fails)
	r.add(history.Spawned, history.Failed, history.Exited) // 2 to 4
	runner.Wake()
	r.await("ends 3 1", "fails 3 1", "ends 4 1")
	stop()
	r.add(history.Died, history.Spawned) // 5, 6
	_, stop = r.start(fails, ends)
	r.await("ends 3 1", "fails 3 1", "ends 4 1", "ends 5 1", "fails 5 1")
	stop()
	// A hook that is removed and comes back begins anew.
	_, stop = r.start(fails)
	stop()
	r.add(history.Failed) // 7
	_, stop = r.start(fails, ends)
	defer stop()
	r.await("ends 3 1", "fails 3 1", "ends 4 1", "ends 5 1", "fails 5 1", "fails 7 1")
}

// Many events come in their order, of which a filter takes some.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, stop := r.start(Hook{Name: "tagged", On: []string{Ended}, Tags: []string{"x"}})
	stop()
	var want []string
	for i := range 3 * batchSize {
		tags := []string{"y"}
		if i%100 == 7 {
			tags = []string{"x"}
			want = append(want, fmt.Sprintf("tagged %d 1", i+1))
		}
		r.addTagged(history.Exited, tags)
	}
	_, stop = r.start(Hook{Name: "tagged", On: []string{Ended}, Tags: []string{"x"}})
	inOrder := slices.Clone(want)
	r.await(want...)
	if diff := cmp.Diff(inOrder, r.runs); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
	stop()
	// The cursor is behind those that it is not run for, too.
	if seq, _, err := r.reg.HookCursor(t.Context(), "tagged"); seq != 3*batchSize || err != nil {
		t.Errorf("the cursor is %d, %v", seq, err)
	}
}

// A command that fails is run again, does not hold up other events and hooks, and is given
// up in the end, which is said.
func TestFailures(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(func(_ context.Context, run string) (Result, error) {
		if strings.HasPrefix(run, "fails 1 ") || run == "fails 2 1" {
			return Result{Failure: "exit status 1"}, nil
		}
		return Result{}, nil
	})
	runner, stop := r.start(ends, fails)
	r.add(history.Failed, history.Failed, history.Failed)
	runner.Wake()
	r.await("ends 1 1", "ends 2 1", "ends 3 1", "fails 1 1", "fails 1 2", "fails 1 3", "fails 2 1", "fails 2 2", "fails 3 1")
	stop()
	given := slices.DeleteFunc(slices.Clone(r.said), func(text string) bool { return !strings.Contains(text, "given up") })
	if len(given) != 1 || !strings.Contains(given[0], "hook 'fails' is given up for event 1-id") || !strings.Contains(given[0], "after 3 attempts: exit status 1; see "+LogPath(r.dir, "fails")) {
		t.Errorf("said %q", r.said)
	}
	if _, ok, err := r.reg.NextRetry(t.Context(), "fails"); ok || err != nil {
		t.Errorf("a retry is left: %t, %v", ok, err)
	}
}

// Retries outlive the runner.
func TestRetriesAreDurable(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(func(context.Context, string) (Result, error) { return Result{Failure: "no network"}, nil })
	o := r.options(fails)
	o.Delays = []time.Duration{time.Millisecond, time.Hour}
	runner, stop := r.startWith(o)
	r.add(history.Failed)
	runner.Wake()
	r.await("fails 1 1", "fails 1 2")
	stop()
	again, ok, err := r.reg.NextRetry(t.Context(), "fails")
	if !ok || err != nil || again.Tries != 2 || time.Until(again.Next) < 50*time.Minute {
		t.Fatalf("the retry is %+v, %t, %v", again, ok, err)
	}
	again.Next = time.Now()
	if err := r.reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error { return tx.SetRetry(ctx, "fails", again) }); err != nil {
		t.Fatal(err)
	}
	r.set(func(context.Context, string) (Result, error) { return Result{}, nil })
	_, stop = r.startWith(o)
	defer stop()
	r.await("fails 1 1", "fails 1 2", "fails 1 3")
}

// A slow hook holds up no other one. If the runner ends meanwhile, the event comes again.
func TestSlow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.set(func(ctx context.Context, run string) (Result, error) {
		if strings.HasPrefix(run, "fails") {
			<-ctx.Done()
			return Result{}, ctx.Err()
		}
		return Result{}, nil
	})
	runner, stop := r.start(ends, fails)
	r.add(history.Failed, history.Failed)
	runner.Wake()
	r.await("ends 1 1", "ends 2 1", "fails 1 1")
	stop()
	r.set(func(context.Context, string) (Result, error) { return Result{}, nil })
	_, stop = r.start(ends, fails)
	defer stop()
	r.await("ends 1 1", "ends 2 1", "fails 1 1", "fails 1 1", "fails 2 1")
}

// Of two runners one runs the hooks, and the other takes over.
func TestTwo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, stop := r.start(ends)
	second := New(r.options(ends))
	if err := second.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- second.Run(ctx) }()
	r.add(history.Failed)
	first.Wake()
	second.Wake()
	r.await("ends 1 1")
	for said := false; !said; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		said = len(r.said) == 1 && r.said[0] == fmt.Sprintf("another 'swarm watch --hooks' (pid %d) runs the hooks; this one takes over when that ends", os.Getpid())
		r.mu.Unlock()
	}
	stop()
	cancel() // both are the same process here, for whose end the second one waits
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	third, stop := r.start(ends)
	defer stop()
	r.add(history.Failed)
	third.Wake()
	r.await("ends 1 1", "ends 2 1")
}

// A rebuilt history, which may be shorter, takes the place of the open one.
func TestRebuilt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(history.Spawned, history.Spawned, history.Spawned)
	runner, stop := r.start(ends)
	defer stop()
	r.add(history.Failed)
	runner.Wake()
	r.await("ends 4 1")
	if err := r.reg.Close(); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(r.dir, registry.File)
	for _, ending := range []string{"", "-wal", "-shm"} {
		_ = os.Rename(old+ending, filepath.Join(t.TempDir(), "old")) // some may be missing
	}
	r.open()
	runner.Wake()
	for seq, ok := int64(-1), false; !ok || seq != 0; time.Sleep(time.Millisecond) {
		var err error
		if seq, ok, err = r.reg.HookCursor(t.Context(), "ends"); err != nil {
			t.Fatal(err)
		}
		runner.Wake()
	}
	r.add(history.Failed)
	runner.Wake()
	r.await("ends 4 1", "ends 1 1")
}
