package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/swarm"
)

func ephemeral(q *SpawnRequest) { q.Retain = registry.RetainNone }

// inside returns another host, whose caller runs in the worker w.
func (r *rig) inside(t *testing.T, w Worker) *rig {
	t.Helper()
	in := rigIn(t, r.root)
	in.one, in.two, in.plugins = r.one, r.two, r.plugins
	in.usePlugins(r.plugins)
	in.setEnv(swarm.EnvWorkerID + "=" + w.ID)
	return in
}

func (r *rig) complete(t *testing.T, w Worker, summary string) error {
	t.Helper()
	r.can("one", swarm.CapComplete)
	in := r.inside(t, w)
	_, err := in.Complete(t.Context(), CompleteRequest{Summary: summary})
	return errors.Join(err, in.Close())
}

// gone asserts that nobody finds a worker any more.
func (r *rig) gone(t *testing.T, name string) {
	t.Helper()
	_, _, err := r.Workers(t.Context(), Selection{Names: []string{name}})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("status of %s: %v", name, err)
	}
	if _, there := r.summary(t)[name]; there {
		t.Errorf("%s is listed", name)
	}
}

func (r *rig) told(t *testing.T, worker string, want ...string) {
	t.Helper()
	for i := range want {
		want[i] = "[" + worker + "] " + want[i]
	}
	if diff := cmp.Diff(want, r.linesOf(t, worker)); diff != "" {
		t.Errorf("history of %s (-want +got):\n%s", worker, diff)
	}
}

// The flows of the seed: each posts one message, and the record of an ephemeral
// worker goes with it.
func TestEphemeralFlows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, r *rig, w Worker)
		want []string
	}{
		"complete": {func(t *testing.T, r *rig, w Worker) {
			if err := r.complete(t, w, "all tests pass"); err != nil {
				t.Fatal(err)
			}
		}, []string{"COMPLETE: all tests pass"}},
		"exit ok": {func(t *testing.T, r *rig, _ Worker) {
			r.one.end(t, "w", swarm.Exit{Cause: swarm.CauseExited})
		}, []string{"EXITED: success"}},
		"exit not ok": {func(t *testing.T, r *rig, _ Worker) {
			r.one.end(t, "w", swarm.Exit{Code: 3, Cause: swarm.CauseExited})
		}, []string{"FAILED: exit status 3"}},
		"dead pid": {func(t *testing.T, r *rig, _ Worker) {
			r.one.change(t, "w", func(w *fakeWorker) { w.State = swarm.StateLost })
		}, []string{"DIED: process not found"}},
		"kill": {func(t *testing.T, r *rig, _ Worker) {
			r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
		}, []string{"KILL REQUESTED", "KILLED: by orchestrator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			w := r.spawn(t, "w", "one", ephemeral)
			c.end(t, r, w)
			r.gone(t, "w") // also before anybody wrote it
			// The next call that changes something writes it, if it is not yet; what no
			// shim could tell is found by gc.
			r.spawn(t, "other", "two")
			want := append([]string{"SPAWNED"}, c.want...)
			if name == "dead pid" {
				r.told(t, "w", "SPAWNED")
				if _, err := r.Collect(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			r.told(t, "w", want...)
			r.gone(t, "w")
			// Its history is told by its id too, and by that of no other.
			if events, err := r.Events(t.Context(), history.Query{Worker: w.ID}); err != nil || len(events) != len(want) || !events[len(events)-1].Final {
				t.Errorf("by id: %v, %v", events, err)
			}
			// The name is free again, with a history of its own beside the old one.
			r.spawn(t, "w", "one")
			if _, err := os.Stat(r.dir.RunDir(w.ID)); err == nil {
				t.Error("its run directory is still there")
			}
			if got := r.linesOf(t, "w"); len(got) != len(want)+1 {
				t.Errorf("history %q", got)
			}
		})
	}
}

// A worker that is kept says the same, and stays.
func TestKeptFlows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.spawn(t, "w", "one")
	if err := r.complete(t, w, "done"); err != nil {
		t.Fatal(err)
	}
	if got := r.get(t, "w"); got.Status != StatusRunning || got.Completion == nil || got.Completion.Summary != "done" {
		t.Errorf("after complete: %+v", got)
	}
	r.kill(t, Selection{Names: []string{"w"}}, KillRequest{})
	r.told(t, "w", "SPAWNED", "COMPLETE: done", "KILL REQUESTED")
	if got := r.get(t, "w"); got.Status != StatusStopped || got.Completion == nil {
		t.Errorf("after its end: %+v", got)
	}
	if err := r.complete(t, w, "again"); !errors.Is(err, swarm.ErrTooLate) && !errors.Is(err, ErrOutside) {
		t.Errorf("complete after the end: %v", err)
	}
	out, err := r.Clean(t.Context(), Selection{All: true}, CleanRequest{})
	if err != nil || len(out) != 1 || out[0].Err != nil {
		t.Fatal(out, err)
	}
	r.told(t, "w", "SPAWNED", "COMPLETE: done", "KILL REQUESTED", "CLEANED")
}

func TestCompleteTwiceAndOutside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.spawn(t, "w", "one")
	if err := r.complete(t, w, "first"); err != nil {
		t.Fatal(err)
	}
	if err := r.complete(t, w, "second"); !errors.Is(err, swarm.ErrTooLate) {
		t.Errorf("second: %v", err)
	}
	r.told(t, "w", "SPAWNED", "COMPLETE: first")
	if _, err := r.Complete(t.Context(), CompleteRequest{}); !errors.Is(err, ErrOutside) {
		t.Errorf("outside: %v", err)
	}
	deaf := r.spawn(t, "deaf", "two")
	if _, err := r.inside(t, deaf).Complete(t.Context(), CompleteRequest{}); !errors.Is(err, swarm.ErrUnsupported) {
		t.Errorf("a backend that can't: %v", err)
	}
	r.told(t, "deaf", "SPAWNED")
}

// Of complete and kill one is first, and there is one end.
func TestCompleteWhileKilled(t *testing.T) {
	t.Parallel()
	const rounds = 60
	r := newRig(t)
	r.can("one", swarm.CapComplete)
	completed := 0
	for i := range rounds {
		name := fmt.Sprintf("w%d", i)
		w := r.spawn(t, name, "one", func(q *SpawnRequest) {
			if i%2 == 0 {
				ephemeral(q)
			}
		})
		in := r.inside(t, w)
		other := rigIn(t, r.root)
		other.usePlugins(r.plugins)
		var both sync.WaitGroup
		var completeErr, killErr error
		both.Go(func() { _, completeErr = in.Complete(t.Context(), CompleteRequest{Summary: "done"}) })
		both.Go(func() { _, killErr = other.Kill(t.Context(), Selection{Names: []string{name}}, KillRequest{}) })
		both.Wait()
		if killErr != nil && !errors.Is(killErr, ErrNotFound) {
			t.Fatal(killErr)
		}
		var ends []string
		for _, e := range r.events(t, name) {
			if e.Final {
				ends = append(ends, e.String())
			}
		}
		want := "[" + name + "] KILLED: by orchestrator"
		if completeErr == nil {
			want = "[" + name + "] COMPLETE: done"
			completed++
		}
		if !slices.Equal(ends, []string{want}) {
			t.Fatalf("complete: %v, ends: %q", completeErr, ends)
		}
		if err := errors.Join(in.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d completed before they were killed", completed, rounds)
}

func (r *rig) events(t *testing.T, worker string) []history.Event {
	t.Helper()
	events, err := r.Events(t.Context(), history.Query{Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// A host that dies after the shim knows and before the registry does loses
// nothing, and what is written later has the true time.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one", ephemeral, withTree)
	r.one.change(t, "w", func(w *fakeWorker) {
		w.Completion = &swarm.Completion{Summary: "done", Time: time.Unix(1700000000, 0)}
	})
	r.told(t, "w", "SPAWNED")
	r.spawn(t, "other", "two") // whatever backend it starts
	r.told(t, "w", "SPAWNED", "WORKTREE KEPT: "+r.tree.dir+"/w", "COMPLETE: done")
	if e := r.events(t, "w")[2]; e.Time.Unix() != 1700000000 || e.Exit != nil {
		t.Errorf("%+v", e)
	}
	r.gone(t, "w")
	if _, err := os.Stat(r.tree.dir + "/w"); err != nil {
		t.Error(err)
	}
	// The exit that follows posts nothing more.
	r.one.end(t, "w", swarm.Exit{Cause: swarm.CauseCompleted})
	r.spawn(t, "y", "one")
	r.told(t, "w", "SPAWNED", "WORKTREE KEPT: "+r.tree.dir+"/w", "COMPLETE: done")
}

// Restarts are told once, and a crash loop with what it printed last.
func TestRestartsAndCrashLoop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapRestart)
	r.one.onOutput = func(_ context.Context, _ fakeWorker, o swarm.OutputOptions, each func(swarm.Output) error) error {
		for i := range *o.Tail + 2 {
			if err := each(swarm.Output{Data: fmt.Appendf(nil, "\x1b[31mboom\x1b[0m %d\r", i)}); err != nil {
				return err
			}
		}
		return nil
	}
	r.spawn(t, "w", "one", func(q *SpawnRequest) { q.Restart.When = swarm.RestartOnFailure })
	restart := func(n int) swarm.Restarted {
		return swarm.Restarted{Number: n, Time: time.Unix(1700000000, 0), Code: n}
	}
	r.one.change(t, "w", func(w *fakeWorker) { w.Restarts = append(w.Restarts, restart(1)) })
	r.spawn(t, "a", "one")
	r.told(t, "w", "SPAWNED", "RESTARTED: restart 1 after exit status 1")
	r.one.change(t, "w", func(w *fakeWorker) {
		w.Restarts = append(w.Restarts, restart(2))
		w.State, w.Exit = swarm.StateExited, &swarm.Exit{Code: 7, Cause: swarm.CauseCrashLoop, Time: time.Unix(1700000001, 0)}
	})
	r.spawn(t, "b", "one")
	r.spawn(t, "c", "one")
	r.told(t, "w", "SPAWNED", "RESTARTED: restart 1 after exit status 1", "RESTARTED: restart 2 after exit status 2",
		"CRASH LOOP: 5 restarts within 1m0s; last output: boom 2 | boom 3 | boom 4 | boom 5 | boom 6", "FAILED: exit status 7")
	if w := r.get(t, "w"); w.Status != StatusStopped || w.Restarts != 2 {
		t.Errorf("%+v", w)
	}
}

// A worker is kept for its time, then it goes, with its run directory and without
// its workspace.
func TestRetention(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keep := func(d string) func(*SpawnRequest) { return func(q *SpawnRequest) { q.Retain = d } }
	long := r.spawn(t, "long", "one", keep("1h"))
	short := r.spawn(t, "short", "one", keep("1m"), withTree)
	r.spawn(t, "lost", "one", keep("0s"))
	for _, name := range []string{"long", "short"} {
		r.one.end(t, name, swarm.Exit{Time: time.Now().Add(-10 * time.Minute)})
	}
	r.one.change(t, "lost", func(w *fakeWorker) { w.State = swarm.StateLost })
	c, err := r.Collect(t.Context())
	if err != nil || len(c.Ended) != 3 || len(c.Removed) != 2 || len(c.Warnings) != 0 || c.RunDirs != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if diff := cmp.Diff(map[string]WorkerStatus{"long": StatusStopped}, r.summary(t)); diff != "" {
		t.Error(diff)
	}
	r.told(t, "short", "SPAWNED", "EXITED: success", "WORKTREE KEPT: "+r.tree.dir+"/short", "CLEANED: kept for 1m")
	r.told(t, "lost", "SPAWNED", "DIED: process not found", "CLEANED: kept for 0s")
	if _, err := os.Stat(r.dir.RunDir(short.ID)); err == nil {
		t.Error("the run directory is still there")
	}
	if _, err := os.Stat(r.dir.RunDir(long.ID)); err != nil {
		t.Error(err)
	}
}

func TestEventQueries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if events, err := r.Events(t.Context(), history.Query{}); err != nil || len(events) != 0 {
		t.Errorf("nothing yet: %v, %v", events, err)
	}
	if _, err := r.Events(t.Context(), history.Query{Worker: "ghost"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a ghost of nothing: %v", err)
	}
	r.spawn(t, "w", "one")
	if _, err := r.Events(t.Context(), history.Query{Worker: "ghost"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a ghost: %v", err)
	}
	none := 0
	if events, err := r.Events(t.Context(), history.Query{Worker: "w", Last: &none}); err != nil || len(events) != 0 {
		t.Errorf("no lines: %v, %v", events, err)
	}
	if names, err := store.HistoryNames(t.Context(), r.opts.Dir); err != nil || !slices.Equal(names, []string{"w"}) {
		t.Errorf("names %q, %v", names, err)
	}
}

// A wait learns the exit of a worker of which nothing else is left.
func TestWaitForEphemeral(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.spawn(t, "w", "one", ephemeral)
	asked := make(chan struct{})
	ask := sync.OnceFunc(func() { close(asked) })
	r.one.beforeStatus = func(context.Context) error {
		ask()
		return nil
	}
	got := make(chan Worker, 1)
	failed := make(chan error, 1)
	go func() {
		failed <- r.Wait(t.Context(), Selection{Names: []string{"w"}}, func(w Worker) { got <- w })
	}()
	<-asked
	other := rigIn(t, r.root)
	other.usePlugins(r.plugins)
	reg, err := other.store.Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.history.Write(t.Context(), reg, []history.Report{{
		Record: r.recordOf(t, w.ID),
		Status: swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Code: 3, Time: time.Unix(1700000000, 0)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.one.path(w.ID)); err != nil {
		t.Fatal(err)
	}
	if w := <-got; w.Status != StatusStopped || w.Exit == nil || w.Exit.Code != 3 {
		t.Errorf("%+v", w)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func (r *rig) recordOf(t *testing.T, id string) registry.Record {
	t.Helper()
	reg, err := r.store.Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := reg.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
