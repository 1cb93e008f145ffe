package roster_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A backend that hangs costs only its own workers their status.
func TestHungBackend(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.MustSpawn(t, "w2", "two")
	r.Two.BeforeStatus = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(200*time.Millisecond))
	defer cancel()
	ws, _, err := r.Workers(ctx, worker.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]worker.Status{"w1": worker.StatusRunning, "w2": worker.StatusUnknown}, hosttest.StatusesOf(ws)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}

func TestStatusAgain(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	calls := 0
	r.One.BeforeStatus = func(context.Context) error {
		if calls++; calls == 1 {
			return client.ErrPluginGone
		}
		return nil
	}
	if w := r.Worker(t, "w1"); w.Status != worker.StatusRunning || calls != 2 || r.Starter.Restarts["one"] != 1 {
		t.Errorf("%s after %d calls and %d restarts", w.Status, calls, r.Starter.Restarts["one"])
	}
	r.One.BeforeStatus = func(context.Context) error { return client.ErrPluginGone }
	if w := r.Worker(t, "w1"); w.Status != worker.StatusUnknown || w.Reason == "" {
		t.Errorf("a plugin that always ends: %s (%s)", w.Status, w.Reason)
	}
}

// Reading writes nothing, whatever it finds.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.One.End(t, "w1", swarm.Exit{Time: time.Unix(1700000000, 0)})
	other := hosttest.NewIn(t, r.Root)
	other.Worker(t, "w1")
	if err := other.Store().View(t.Context(), func(ctx context.Context, tx *registry.Tx) error { return tx.Leave(ctx, "x") }); err == nil {
		t.Error("the registry was opened for changes")
	}
	reg, err := r.Store().ToRead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil || recs[0].State != registry.Running {
		t.Errorf("the record is %s, %v; want it untouched", recs[0].State, err)
	}
}
