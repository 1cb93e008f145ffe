package watch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{true, false} {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			if native {
				r.Announce("one", swarm.CapWatch)
			}
			r.MustSpawn(t, "before", "one")
			r.MustSpawn(t, "early", "two", hosttest.Ephemeral)
			r.One.End(t, "before", swarm.Exit{Code: 1})
			w := r.StartWatch(t)
			// Ends that it finds at its beginning are reported like all later ones.
			w.Expect(t, "[before] FAILED: exit status 1")
			late := r.MustSpawn(t, "late", "one", hosttest.Ephemeral)
			w.Expect(t, "[late] SPAWNED")
			r.Two.End(t, "early", swarm.Exit{})
			w.Expect(t, "[early] EXITED: success")
			r.One.End(t, "late", swarm.Exit{Code: -1, Signal: "SIGTERM"})
			w.Expect(t, "[late] FAILED: signal: terminated")
			r.WantGone(t, "late")
			// The record goes first.
			hosttest.WaitFor(t, func() bool { _, err := os.Stat(r.StateDir().RunDir(late.ID)); return err != nil })
			if err := w.Stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("watch: %v", err)
			}
			if len(w.Warnings) > 0 || len(w.Lines) > 0 {
				t.Errorf("%d warnings, %d events more", len(w.Warnings), len(w.Lines))
			}
		})
	}
}

// TestWatchStopped: a watch reports a worker that runs no more although processes of it are
// alive, which is no end that the history has.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapWatch)
	lost := r.MustSpawn(t, "lost", "one")
	r.MustSpawn(t, "fine", "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, stopped, done := make(chan struct{}), make(chan string, 10), make(chan error, 1)
	go func() {
		done <- r.Watch().Watch(ctx, watch.Request{
			Ready:   func() { close(ready) },
			Stopped: func(id string) { stopped <- id },
		})
	}()
	<-ready
	r.One.Change(t, "lost", func(w *hosttest.Worker) {
		w.State, w.Survivors = swarm.StateLost, []swarm.Process{{PID: 7, Name: "sleep"}}
	})
	select {
	case id := <-stopped:
		if id != lost.ID {
			t.Errorf("%s stopped, not %s", id, lost.ID)
		}
	case err := <-done:
		t.Fatal(err)
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is reported")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, e := range r.AllEvents(t, "") {
		if e.Final {
			t.Errorf("event %s", e)
		}
	}
}

// A retention time ends during a watch.
func TestWatchRetention(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapWatch)
	w := r.StartWatch(t)
	was := r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Retain = "300ms" })
	r.One.End(t, "w", swarm.Exit{Time: time.Now()})
	w.Expect(t, "[w] SPAWNED", "[w] EXITED: success", "[w] CLEANED: kept for 300ms")
	r.WantGone(t, "w")
	if err := w.Stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(r.StateDir().RunDir(was.ID)); err == nil {
		t.Error("the run directory is still there")
	}
}

// An owner that ends takes its workers along where the backend does not ensure it.
func TestWatchOwner(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	owner := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := proc.Identify(owner.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	r.MustSpawn(t, "w", "one", func(q *spawn.Request) { q.Owner = &swarm.Owner{PID: id.PID, Start: id.Start, Boot: id.Boot} })
	if c, err := r.Watch().Collect(t.Context()); err != nil || len(c.Killed) != 0 {
		t.Errorf("gc while the owner lives: %+v, %v", c, err)
	}
	w := r.StartWatch(t)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	w.Expect(t, "[w] KILL REQUESTED", "[w] KILLED: by orchestrator")
}

// A worker that does not end after its owner has ended holds up nothing: neither the
// start of a watch nor what it reports.
func TestWatchStubbornOrphan(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%v", before), func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.Announce("one", swarm.CapWatch)
			owner := exec.CommandContext(t.Context(), "sleep", "1000")
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			id, err := proc.Identify(owner.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			end := func() { _ = owner.Process.Kill(); _ = owner.Wait() }
			t.Cleanup(end)
			killing, release := make(chan struct{}), make(chan struct{})
			r.Two.OnKill = func(ctx context.Context, w hosttest.Worker, _ swarm.KillOptions) (swarm.KillResult, error) {
				close(killing)
				select {
				case <-release:
				case <-ctx.Done():
				}
				exit := swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled}
				r.Two.End(t, w.Spec.Name, exit)
				return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited, Exit: &exit}}, nil
			}
			r.MustSpawn(t, "orphan", "two", func(q *spawn.Request) { q.Owner = &swarm.Owner{PID: id.PID, Start: id.Start, Boot: id.Boot} })
			r.MustSpawn(t, "other", "one")
			if before {
				end()
			}
			w := r.StartWatch(t)
			end()
			w.Expect(t, "[orphan] KILL REQUESTED")
			<-killing
			r.One.End(t, "other", swarm.Exit{})
			w.Expect(t, "[other] EXITED: success")
			r.MustSpawn(t, "late", "one")
			w.Expect(t, "[late] SPAWNED")
			close(release)
			w.Expect(t, "[orphan] KILLED: by orchestrator")
			if err := w.Stop(); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// A backend that can't be asked is said once, and its workers are watched when it
// can be again.
func TestWatchBackendComesBack(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapWatch)
	r.MustSpawn(t, "w", "one")
	boom := errors.New("boom")
	r.Starter.Fail("one", boom)
	w := r.StartWatch(t)
	if text := <-w.Warnings; !strings.Contains(text, "boom") {
		t.Errorf("warning %q", text)
	}
	r.One.End(t, "w", swarm.Exit{})
	r.Starter.Fail("one", nil)
	w.Expect(t, "[w] EXITED: success")
}

// A watch continues with the registry that a rebuild puts in the place of the one that it
// began with.
func TestWatchRebuild(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"deleted": os.Remove, "workers unusable": hosttest.DamageWorkers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.Announce("one", swarm.CapWatch)
			r.MustSpawn(t, "w", "one")
			w := r.StartWatch(t)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.Dir(), registry.File)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if got := hosttest.Problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			r.One.End(t, "w", swarm.Exit{Code: 1})
			for {
				select {
				case got := <-w.Lines:
					if got != "[w] FAILED: exit status 1" {
						continue // what the rebuild found may be reported again
					}
				case <-time.After(20 * time.Second):
					t.Fatal("the end is not reported")
				}
				break
			}
			if got := r.Record(t, "w"); got.State != registry.Stopped {
				t.Errorf("the record says %s", got.State)
			}
			if err := w.Stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("watch: %v", err)
			}
		})
	}
}
