package host_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestSpawnProcess is the main of another process.
func TestSpawnProcess(t *testing.T) { hosttest.RunSpawn(t) }

func TestCrashInSpawn(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]struct {
		status worker.Status
		reason string
		alive  []string
	}{
		"workspace": {worker.StatusStopped, history.ReasonInterrupted, []string{"other"}},
		"before":    {worker.StatusStopped, history.ReasonInterrupted, []string{"other"}},
		"after":     {worker.StatusRunning, "", []string{"other", "w1"}},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			hosttest.CrashAt(t, root, step)
			r := hosttest.NewIn(t, root)
			if w := r.Worker(t, "w1"); w.Status != worker.StatusStarting || w.Reason != history.ReasonInterrupted {
				t.Errorf("after the crash: %s (%s), want %s (%s)", w.Status, w.Reason, worker.StatusStarting, history.ReasonInterrupted)
			}
			// Another backend does not settle it, its own does.
			r.MustSpawn(t, "far", "two")
			if w := r.Worker(t, "w1"); w.Status != worker.StatusStarting {
				t.Errorf("a spawn by another backend made it %s", w.Status)
			}
			r.MustSpawn(t, "other", "one")
			w := r.Worker(t, "w1")
			if w.Status != want.status || w.Reason != want.reason {
				t.Errorf("settled as %s (%s), want %s (%s)", w.Status, w.Reason, want.status, want.reason)
			}
			if w.Workspace == nil {
				t.Error("the workspace was forgotten")
			}
			if diff := cmp.Diff(want.alive, r.One.Alive(t)); diff != "" {
				t.Errorf("alive (-want +got):\n%s", diff)
			}
			// A settled worker can be ended and cleaned.
			if out, err := r.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{}); err != nil || hosttest.KillErrors(out) != nil {
				t.Error(err, hosttest.KillErrors(out))
			}
			if out, err := r.Kill().Clean(t.Context(), worker.Selection{All: true}, kill.CleanRequest{}); err != nil || len(out) != 3 {
				t.Errorf("cleaned %v, %v", out, err)
			}
			if left := r.Leftovers(t); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestKillSettles(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"workspace", "before", "after"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			hosttest.CrashAt(t, root, step)
			r := hosttest.NewIn(t, root)
			out, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w1"}}, kill.Request{})
			if err != nil || len(out) != 1 || out[0].Err != nil {
				t.Fatalf("outcomes %+v, %v", out, err)
			}
			if w := r.Worker(t, "w1"); w.Status != worker.StatusStopped {
				t.Errorf("after the kill it is %s", w.Status)
			}
			if alive := r.One.Alive(t); len(alive) > 0 {
				t.Errorf("still alive: %v", alive)
			}
		})
	}
}

// A spawn that is under way is left alone by others, and a kill waits for it.
func TestSpawnUnderWay(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	reached, goOn := make(chan struct{}), make(chan struct{})
	r.One.AfterSpawn = func(_ context.Context, s swarm.Spec) error {
		if s.Name == "slow" {
			close(reached)
			<-goOn
		}
		return nil
	}
	spawned := make(chan error, 1)
	go func() {
		_, err := r.Spawn().Spawn(t.Context(), r.Request("slow", "one"))
		spawned <- err
	}()
	<-reached
	other := hosttest.NewIn(t, r.Root)
	if w := other.Worker(t, "slow"); w.Status != worker.StatusStarting || w.Reason != "" {
		t.Errorf("in its spawn it is %s (%s)", w.Status, w.Reason)
	}
	other.MustSpawn(t, "quick", "one")
	if w := other.Worker(t, "slow"); w.Status != worker.StatusStarting {
		t.Errorf("another spawn made it %s", w.Status)
	}
	if out, err := other.Kill().Clean(t.Context(), worker.Selection{Names: []string{"slow"}}, kill.CleanRequest{}); err != nil || !errors.Is(out[0].Err, worker.ErrRunning) {
		t.Errorf("clean: %+v, %v", out, err)
	}
	killed := make(chan []kill.Outcome, 1)
	go func() {
		out, err := other.Kill().Kill(t.Context(), worker.Selection{Names: []string{"slow"}}, kill.Request{})
		if err != nil {
			t.Error(err)
		}
		killed <- out
	}()
	close(goOn)
	if err := <-spawned; err != nil {
		t.Error(err)
	}
	if out := <-killed; hosttest.KillErrors(out) != nil {
		t.Error(hosttest.KillErrors(out))
	}
	if diff := cmp.Diff([]string{"quick"}, r.One.Alive(t)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
}

// A spawn whose backend can't tell is not given up.
func TestSettleUnavailable(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	hosttest.CrashAt(t, root, "after")
	r := hosttest.NewIn(t, root)
	r.Starter.Errors["one"] = swarm.ErrUnavailable
	out, err := r.Kill().Kill(t.Context(), worker.Selection{Names: []string{"w1"}}, kill.Request{})
	if err != nil || len(out) != 1 || !errors.Is(out[0].Err, swarm.ErrUnavailable) {
		t.Fatalf("outcomes %+v, %v", out, err)
	}
	reg, err := r.Store().Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil || len(recs) != 1 || recs[0].State != registry.Starting {
		t.Errorf("records %+v, %v; want it still starting", recs, err)
	}
}

func TestManySpawns(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	const n = 25
	errs := make(chan error, 2*n)
	for i := range n {
		go func() {
			_, err := r.Spawn().Spawn(t.Context(), r.Request(fmt.Sprintf("g%d", i), "one"))
			errs <- err
		}()
		go func() {
			out, err := hosttest.SpawnProcess(t, r.Root, fmt.Sprintf("p%d", i), "").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			errs <- err
		}()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	ws := r.Statuses(t)
	if len(ws) != 2*n || len(r.One.Alive(t)) != 2*n {
		t.Fatalf("%d records and %d workers, want %d", len(ws), len(r.One.Alive(t)), 2*n)
	}
	out, err := r.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{})
	if err != nil || hosttest.KillErrors(out) != nil || len(out) != 2*n {
		t.Error(err, hosttest.KillErrors(out))
	}
	if alive := r.One.Alive(t); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
}

// Of many spawns of one name one wins, and nothing is left of the others.
func TestOneName(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	const n = 20
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := r.Spawn().Spawn(t.Context(), r.Request("same", "one"))
			errs <- err
		}()
	}
	won := 0
	for range n {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, worker.ErrExists):
			t.Error(err)
		}
	}
	if ids, err := r.StateDir().RunDirs(); err != nil || won != 1 || len(ids) != 1 || len(r.One.Alive(t)) != 1 {
		t.Errorf("%d won, run directories %v, alive %v, %v", won, ids, r.One.Alive(t), err)
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a, b := statedir.NewID(now), statedir.NewID(now.Add(time.Millisecond))
	if len(a) != 16 || a >= b || a == statedir.NewID(now) {
		t.Errorf("ids %s, %s: want 16 digits in the order of time, and no two the same", a, b)
	}
}
