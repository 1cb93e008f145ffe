package settle_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
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
	reached, proceed := make(chan struct{}), make(chan struct{})
	r.One.AfterSpawn = func(_ context.Context, s swarm.Spec) error {
		if s.Name == "slow" {
			close(reached)
			<-proceed
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
	close(proceed)
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

// A spawn whose backend can't say is not given up.
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
	reg, err := r.Store().ToRead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil || len(recs) != 1 || recs[0].State != registry.Starting {
		t.Errorf("records %+v, %v; want it still starting", recs, err)
	}
}
