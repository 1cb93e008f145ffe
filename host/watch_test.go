package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// watcher is a watch in another host of the same state directory.
type watcher struct {
	told   chan string
	warned chan string
	stop   func() error
}

// watch starts a watch and returns when nothing is missed any more.
func (r *rig) watch(t *testing.T) *watcher {
	t.Helper()
	other := rigIn(t, r.root)
	other.usePlugins(r.plugins)
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{told: make(chan string, 10000), warned: make(chan string, 100)}
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- other.Watch(ctx, watch.Request{
			Ready: func() { close(ready) },
			Event: func(e history.Event) error {
				w.told <- e.String()
				return nil
			},
			Warn: func(text string) { w.warned <- text },
		})
	}()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = w.stop() })
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("watch: %v", err)
	}
	return w
}

// expect waits for these events, in this order and without others.
func (w *watcher) expect(t *testing.T, want ...string) {
	t.Helper()
	for _, line := range want {
		select {
		case got := <-w.told:
			if got != line {
				t.Fatalf("told %q, want %q", got, line)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("not told: %q", line)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{true, false} {
		t.Run(fmt.Sprintf("native=%v", native), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if native {
				r.can("one", swarm.CapWatch)
			}
			r.spawn(t, "before", "one")
			r.spawn(t, "early", "two", ephemeral)
			r.one.end(t, "before", swarm.Exit{Code: 1})
			w := r.watch(t)
			// Ends that it finds at its beginning are reported like all later ones.
			w.expect(t, "[before] FAILED: exit status 1")
			late := r.spawn(t, "late", "one", ephemeral)
			w.expect(t, "[late] SPAWNED")
			r.two.end(t, "early", swarm.Exit{})
			w.expect(t, "[early] EXITED: success")
			r.one.end(t, "late", swarm.Exit{Code: -1, Signal: "SIGTERM"})
			w.expect(t, "[late] FAILED: signal: terminated")
			r.gone(t, "late")
			// The record goes first.
			waitFor(t, func() bool { _, err := os.Stat(r.dir.RunDir(late.ID)); return err != nil })
			if err := w.stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("watch: %v", err)
			}
			if len(w.warned) > 0 || len(w.told) > 0 {
				t.Errorf("%d warnings, %d events more", len(w.warned), len(w.told))
			}
		})
	}
}

// TestWatchStopped: a watch tells of a worker that runs no more although processes of it are
// alive, which is no end that the history has.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapWatch)
	lost := r.spawn(t, "lost", "one")
	r.spawn(t, "fine", "one")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, stopped, done := make(chan struct{}), make(chan string, 10), make(chan error, 1)
	go func() {
		done <- r.Watch(ctx, watch.Request{
			Ready:   func() { close(ready) },
			Stopped: func(id string) { stopped <- id },
		})
	}()
	<-ready
	r.one.change(t, "lost", func(w *fakeWorker) {
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
		t.Fatal("nothing is told")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, e := range r.events(t, "") {
		if e.Final {
			t.Errorf("event %s", e)
		}
	}
}

// A retention time ends while somebody watches.
func TestWatchRetention(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapWatch)
	w := r.watch(t)
	was := r.spawn(t, "w", "one", func(q *SpawnRequest) { q.Retain = "300ms" })
	r.one.end(t, "w", swarm.Exit{Time: time.Now()})
	w.expect(t, "[w] SPAWNED", "[w] EXITED: success", "[w] CLEANED: kept for 300ms")
	r.gone(t, "w")
	if err := w.stop(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(r.dir.RunDir(was.ID)); err == nil {
		t.Error("the run directory is still there")
	}
}

// An owner that ends takes its workers along where the backend does not see to it.
func TestWatchOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	owner := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := proc.Identify(owner.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	r.spawn(t, "w", "one", func(q *SpawnRequest) { q.Owner = &swarm.Owner{PID: id.PID, Start: id.Start, Boot: id.Boot} })
	if c, err := r.Collect(t.Context()); err != nil || len(c.Killed) != 0 {
		t.Errorf("gc while the owner lives: %+v, %v", c, err)
	}
	w := r.watch(t)
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	w.expect(t, "[w] KILL REQUESTED", "[w] KILLED: by orchestrator")
}

// A worker that does not end after its owner has ended holds up nothing: neither the
// start of a watch nor what it tells.
func TestWatchStubbornOrphan(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%v", before), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.can("one", swarm.CapWatch)
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
			r.two.onKill = func(ctx context.Context, w fakeWorker, _ swarm.KillOptions) (swarm.KillResult, error) {
				close(killing)
				select {
				case <-release:
				case <-ctx.Done():
				}
				exit := swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled}
				r.two.end(t, w.Spec.Name, exit)
				return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited, Exit: &exit}}, nil
			}
			r.spawn(t, "orphan", "two", func(q *SpawnRequest) { q.Owner = &swarm.Owner{PID: id.PID, Start: id.Start, Boot: id.Boot} })
			r.spawn(t, "other", "one")
			if before {
				end()
			}
			w := r.watch(t)
			end()
			w.expect(t, "[orphan] KILL REQUESTED")
			<-killing
			r.one.end(t, "other", swarm.Exit{})
			w.expect(t, "[other] EXITED: success")
			r.spawn(t, "late", "one")
			w.expect(t, "[late] SPAWNED")
			close(release)
			w.expect(t, "[orphan] KILLED: by orchestrator")
			if err := w.stop(); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// A backend that can't be asked is said once, and its workers are watched when it
// can be again.
func TestWatchBackendComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapWatch)
	r.spawn(t, "w", "one")
	boom := errors.New("boom")
	r.plugins.set("one", boom)
	w := r.watch(t)
	if text := <-w.warned; !strings.Contains(text, "boom") {
		t.Errorf("warning %q", text)
	}
	r.one.end(t, "w", swarm.Exit{})
	r.plugins.set("one", nil)
	w.expect(t, "[w] EXITED: success")
}

func (f *fakePlugins) set(name string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs[name] = err
}

// A follower begins with what was asked for and goes on with what is new.
func TestFollow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	follow := func(q history.Query) (*watcher, func() error) {
		other := rigIn(t, r.root)
		ctx, cancel := context.WithCancel(t.Context())
		w := &watcher{told: make(chan string, 1000)}
		done := make(chan error, 1)
		go func() {
			done <- other.FollowEvents(ctx, q, func(e history.Event) error {
				w.told <- e.String()
				return nil
			})
		}()
		t.Cleanup(cancel)
		return w, func() error {
			cancel()
			return <-done
		}
	}
	// There is not even a state directory yet.
	all, stopAll := follow(history.Query{})
	r.spawn(t, "a", "one")
	all.expect(t, "[a] SPAWNED")
	r.spawn(t, "b", "one")
	one := 1
	last, _ := follow(history.Query{Last: &one})
	last.expect(t, "[b] SPAWNED")
	onlyA, _ := follow(history.Query{Worker: "a"})
	onlyA.expect(t, "[a] SPAWNED")
	r.kill(t, Selection{Names: []string{"b", "a"}}, KillRequest{})
	onlyA.expect(t, "[a] KILL REQUESTED", "[a] KILLED: by orchestrator")
	var lines []string
	for range 4 {
		lines = append(lines, <-last.told)
	}
	slices.Sort(lines)
	if diff := cmp.Diff([]string{"[a] KILL REQUESTED", "[a] KILLED: by orchestrator", "[b] KILL REQUESTED", "[b] KILLED: by orchestrator"}, lines); diff != "" {
		t.Error(diff)
	}
	if err := stopAll(); !errors.Is(err, context.Canceled) {
		t.Errorf("follow: %v", err)
	}
	if err := r.FollowEvents(t.Context(), history.Query{Worker: "ghost"}, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("a ghost: %v", err)
	}
	enough := errors.New("enough")
	if err := r.FollowEvents(t.Context(), history.Query{}, func(history.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("each: %v", err)
	}
}

// A watch goes on with the registry that a rebuild puts in the place of the one that it
// began with.
func TestWatchRebuild(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"deleted": os.Remove, "workers unusable": breakWorkers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.can("one", swarm.CapWatch)
			r.spawn(t, "w", "one")
			w := r.watch(t)
			if err := r.store.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.opts.Dir, registry.File)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if got := problems(t, r, true); got != nil {
				t.Errorf("problems after the rebuild: %q", got)
			}
			r.one.end(t, "w", swarm.Exit{Code: 1})
			for {
				select {
				case got := <-w.told:
					if got != "[w] FAILED: exit status 1" {
						continue // what the rebuild found may be told again
					}
				case <-time.After(20 * time.Second):
					t.Fatal("the end is not told")
				}
				break
			}
			if got := r.record(t, "w"); got.State != registry.Stopped {
				t.Errorf("the record says %s", got.State)
			}
			if err := w.stop(); !errors.Is(err, context.Canceled) {
				t.Errorf("watch: %v", err)
			}
		})
	}
}
