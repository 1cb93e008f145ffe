package history_test

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

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The flows of the seed: each posts one message, and the record of an ephemeral
// worker goes with it.
func TestEphemeralFlows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(t *testing.T, r *hosttest.Rig, w worker.Worker)
		want []string
	}{
		"complete": {func(t *testing.T, r *hosttest.Rig, w worker.Worker) {
			if err := r.CompleteInside(t, w, "all tests pass"); err != nil {
				t.Fatal(err)
			}
		}, []string{"COMPLETE: all tests pass"}},
		"exit ok": {func(t *testing.T, r *hosttest.Rig, _ worker.Worker) {
			r.One.End(t, "w", swarm.Exit{Cause: swarm.CauseExited})
		}, []string{"EXITED: success"}},
		"exit not ok": {func(t *testing.T, r *hosttest.Rig, _ worker.Worker) {
			r.One.End(t, "w", swarm.Exit{Code: 3, Cause: swarm.CauseExited})
		}, []string{"FAILED: exit status 3"}},
		"dead pid": {func(t *testing.T, r *hosttest.Rig, _ worker.Worker) {
			r.One.Change(t, "w", func(w *hosttest.Worker) { w.State = swarm.StateLost })
		}, []string{"DIED: process not found"}},
		"kill": {func(t *testing.T, r *hosttest.Rig, _ worker.Worker) {
			r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
		}, []string{"KILL REQUESTED", "KILLED: by orchestrator"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			w := r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
			c.end(t, r, w)
			r.WantGone(t, "w") // also before anybody wrote it
			// The next call that changes something writes it, if it is not yet; what no
			// shim could report is found by gc.
			r.MustSpawn(t, "other", "two")
			want := append([]string{"SPAWNED"}, c.want...)
			if name == "dead pid" {
				r.WantHistory(t, "w", "SPAWNED")
				if _, err := r.Watch().Collect(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			r.WantHistory(t, "w", want...)
			r.WantGone(t, "w")
			// Its history is found by its id too, and by that of no other.
			if events, err := r.History().Events(t.Context(), registry.EventQuery{Worker: w.ID}); err != nil || len(events) != len(want) || !events[len(events)-1].Final {
				t.Errorf("by id: %v, %v", events, err)
			}
			// The name is free again, with a history of its own next to the old one.
			r.MustSpawn(t, "w", "one")
			if _, err := os.Stat(r.StateDir().RunDir(w.ID)); err == nil {
				t.Error("its run directory is still there")
			}
			if got := r.HistoryLines(t, "w"); len(got) != len(want)+1 {
				t.Errorf("history %q", got)
			}
		})
	}
}

// A worker that is kept says the same, and stays.
func TestKeptFlows(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one")
	if err := r.CompleteInside(t, w, "done"); err != nil {
		t.Fatal(err)
	}
	if got := r.Worker(t, "w"); got.Status != worker.StatusRunning || got.Completion == nil || got.Completion.Summary != "done" {
		t.Errorf("after complete: %+v", got)
	}
	r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
	r.WantHistory(t, "w", "SPAWNED", "COMPLETE: done", "KILL REQUESTED")
	if got := r.Worker(t, "w"); got.Status != worker.StatusStopped || got.Completion == nil {
		t.Errorf("after its end: %+v", got)
	}
	if err := r.CompleteInside(t, w, "again"); !errors.Is(err, swarm.ErrTooLate) && !errors.Is(err, worker.ErrOutside) {
		t.Errorf("complete after the end: %v", err)
	}
	out, err := r.Kill().Clean(t.Context(), worker.Selection{All: true}, kill.CleanRequest{})
	if err != nil || len(out) != 1 || out[0].Err != nil {
		t.Fatal(out, err)
	}
	r.WantHistory(t, "w", "SPAWNED", "COMPLETE: done", "KILL REQUESTED", "CLEANED")
}

func TestCompleteTwiceAndOutside(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one")
	if err := r.CompleteInside(t, w, "first"); err != nil {
		t.Fatal(err)
	}
	if err := r.CompleteInside(t, w, "second"); !errors.Is(err, swarm.ErrTooLate) {
		t.Errorf("second: %v", err)
	}
	r.WantHistory(t, "w", "SPAWNED", "COMPLETE: first")
	if _, err := r.Complete(t.Context(), host.CompleteRequest{}); !errors.Is(err, worker.ErrOutside) {
		t.Errorf("outside: %v", err)
	}
	deaf := r.MustSpawn(t, "deaf", "two")
	if _, err := r.Inside(t, deaf).Complete(t.Context(), host.CompleteRequest{}); !errors.Is(err, swarm.ErrUnsupported) {
		t.Errorf("a backend that can't: %v", err)
	}
	r.WantHistory(t, "deaf", "SPAWNED")
}

// Of complete and kill one is first, and there is one end.
func TestCompleteWhileKilled(t *testing.T) {
	t.Parallel()
	const rounds = 60
	r := hosttest.New(t)
	r.Announce("one", swarm.CapComplete)
	completed := 0
	for i := range rounds {
		name := fmt.Sprintf("w%d", i)
		w := r.MustSpawn(t, name, "one", func(q *spawn.Request) {
			if i%2 == 0 {
				hosttest.Ephemeral(q)
			}
		})
		in := r.Inside(t, w)
		other := hosttest.NewIn(t, r.Root)
		other.UsePlugins(t, r)
		var both sync.WaitGroup
		var completeErr, killErr error
		both.Go(func() { _, completeErr = in.Complete(t.Context(), host.CompleteRequest{Summary: "done"}) })
		both.Go(func() {
			_, killErr = other.Kill().Kill(t.Context(), worker.Selection{Names: []string{name}}, kill.Request{})
		})
		both.Wait()
		if killErr != nil && !errors.Is(killErr, store.ErrNotFound) {
			t.Fatal(killErr)
		}
		var ends []string
		for _, e := range r.AllEvents(t, name) {
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

// A host that dies after the shim knows and before the registry does loses
// nothing, and what is written later has the true time.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.Ephemeral, hosttest.InWorkspace)
	r.One.Change(t, "w", func(w *hosttest.Worker) {
		w.Completion = &swarm.Completion{Summary: "done", Time: time.Unix(1700000000, 0)}
	})
	r.WantHistory(t, "w", "SPAWNED")
	r.MustSpawn(t, "other", "two") // whatever backend it starts
	r.WantHistory(t, "w", "SPAWNED", "WORKTREE KEPT: "+r.Tree.Dir+"/w", "COMPLETE: done")
	if e := r.AllEvents(t, "w")[2]; e.Time.Unix() != 1700000000 || e.Exit != nil {
		t.Errorf("%+v", e)
	}
	r.WantGone(t, "w")
	if _, err := os.Stat(r.Tree.Dir + "/w"); err != nil {
		t.Error(err)
	}
	// The exit that follows posts nothing more.
	r.One.End(t, "w", swarm.Exit{Cause: swarm.CauseCompleted})
	r.MustSpawn(t, "y", "one")
	r.WantHistory(t, "w", "SPAWNED", "WORKTREE KEPT: "+r.Tree.Dir+"/w", "COMPLETE: done")
}

// Restarts are reported once, and a crash loop with what it printed last.
func TestRestartsAndCrashLoop(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapRestart)
	r.One.OnOutput = func(_ context.Context, _ hosttest.Worker, o swarm.OutputOptions, each func(swarm.Output) error) error {
		for i := range *o.Tail + 2 {
			if err := each(swarm.Output{Data: fmt.Appendf(nil, "\x1b[31mboom\x1b[0m %d\r", i)}); err != nil {
				return err
			}
		}
		return nil
	}
	r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Restart.When = swarm.RestartOnFailure })
	restart := func(n int) swarm.Restarted {
		return swarm.Restarted{Number: n, Time: time.Unix(1700000000, 0), Code: n}
	}
	r.One.Change(t, "w", func(w *hosttest.Worker) { w.Restarts = append(w.Restarts, restart(1)) })
	r.MustSpawn(t, "a", "one")
	r.WantHistory(t, "w", "SPAWNED", "RESTARTED: restart 1 after exit status 1")
	r.One.Change(t, "w", func(w *hosttest.Worker) {
		w.Restarts = append(w.Restarts, restart(2))
		w.State, w.Exit = swarm.StateExited, &swarm.Exit{Code: 7, Cause: swarm.CauseCrashLoop, Time: time.Unix(1700000001, 0)}
	})
	r.MustSpawn(t, "b", "one")
	r.MustSpawn(t, "c", "one")
	r.WantHistory(t, "w", "SPAWNED", "RESTARTED: restart 1 after exit status 1", "RESTARTED: restart 2 after exit status 2",
		"CRASH LOOP: 5 restarts within 1m0s; last output: boom 2 | boom 3 | boom 4 | boom 5 | boom 6", "FAILED: exit status 7")
	if w := r.Worker(t, "w"); w.Status != worker.StatusStopped || w.Restarts != 2 {
		t.Errorf("%+v", w)
	}
}

// A worker is kept for its time, then it goes, with its run directory and without
// its workspace.
func TestRetention(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	keep := func(d string) func(*spawn.Request) { return func(q *spawn.Request) { q.Retain = d } }
	long := r.MustSpawn(t, "long", "one", keep("1h"))
	short := r.MustSpawn(t, "short", "one", keep("1m"), hosttest.InWorkspace)
	r.MustSpawn(t, "lost", "one", keep("0s"))
	for _, name := range []string{"long", "short"} {
		r.One.End(t, name, swarm.Exit{Time: time.Now().Add(-10 * time.Minute)})
	}
	r.One.Change(t, "lost", func(w *hosttest.Worker) { w.State = swarm.StateLost })
	c, err := r.Watch().Collect(t.Context())
	if err != nil || len(c.Ended) != 3 || len(c.Removed) != 2 || len(c.Warnings) != 0 || c.RunDirs != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if diff := cmp.Diff(map[string]worker.Status{"long": worker.StatusStopped}, r.Statuses(t)); diff != "" {
		t.Error(diff)
	}
	r.WantHistory(t, "short", "SPAWNED", "EXITED: success", "WORKTREE KEPT: "+r.Tree.Dir+"/short", "CLEANED: kept for 1m")
	r.WantHistory(t, "lost", "SPAWNED", "DIED: process not found", "CLEANED: kept for 0s")
	if _, err := os.Stat(r.StateDir().RunDir(short.ID)); err == nil {
		t.Error("the run directory is still there")
	}
	if _, err := os.Stat(r.StateDir().RunDir(long.ID)); err != nil {
		t.Error(err)
	}
}

func TestEventQueries(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	if events, err := r.History().Events(t.Context(), registry.EventQuery{}); err != nil || len(events) != 0 {
		t.Errorf("nothing yet: %v, %v", events, err)
	}
	if _, err := r.History().Events(t.Context(), registry.EventQuery{Worker: "ghost"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a ghost of nothing: %v", err)
	}
	r.MustSpawn(t, "w", "one")
	if _, err := r.History().Events(t.Context(), registry.EventQuery{Worker: "ghost"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a ghost: %v", err)
	}
	none := 0
	if events, err := r.History().Events(t.Context(), registry.EventQuery{Worker: "w", Last: &none}); err != nil || len(events) != 0 {
		t.Errorf("no lines: %v, %v", events, err)
	}
	if names, err := store.HistoryNames(t.Context(), r.Dir()); err != nil || !slices.Equal(names, []string{"w"}) {
		t.Errorf("names %q, %v", names, err)
	}
}
