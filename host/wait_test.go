// These tests stay here: Wait is a method of the host, which asks records, backends and the history.

package host_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A wait that comes after the end, and after the process that recorded it, returns the exit too.
func TestWaitForDeparted(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	codes := func(names ...string) (got []int, err error) {
		err = r.Wait(t.Context(), worker.Selection{Names: names}, func(w worker.Worker) { got = append(got, w.Exit.Code) })
		slices.Sort(got)
		return got, err
	}
	for i, name := range []string{"a", "b"} {
		w := r.MustSpawn(t, name, "one", hosttest.Ephemeral)
		r.One.End(t, name, swarm.Exit{Code: 3 + i})
		if _, err := r.Watch().Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.WantGone(t, w.Name)
	}
	kept := r.MustSpawn(t, "kept", "one")
	r.One.End(t, "kept", swarm.Exit{Code: 9})
	if got, err := codes("a", "b", kept.ID, "a"); err != nil || !slices.Equal(got, []int{3, 4, 9}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"kept"}}, kill.CleanRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept", "ghost"} {
		if got, err := codes("a", name); !errors.Is(err, store.ErrNotFound) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A wait learns the exit of a worker of which nothing else is left.
func TestWaitForEphemeral(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one", hosttest.Ephemeral)
	asked := make(chan struct{})
	ask := sync.OnceFunc(func() { close(asked) })
	r.One.BeforeStatus = func(context.Context) error {
		ask()
		return nil
	}
	got := make(chan worker.Worker, 1)
	failed := make(chan error, 1)
	go func() {
		failed <- r.Wait(t.Context(), worker.Selection{Names: []string{"w"}}, func(w worker.Worker) { got <- w })
	}()
	<-asked
	other := hosttest.NewIn(t, r.Root)
	other.UsePlugins(t, r)
	reg, err := other.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.History().Write(t.Context(), reg, []history.Report{{
		Record: r.Record(t, "w"),
		Status: swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Code: 3, Time: time.Unix(1700000000, 0)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.One.Path(w.ID)); err != nil {
		t.Fatal(err)
	}
	if w := <-got; w.Status != worker.StatusStopped || w.Exit == nil || w.Exit.Code != 3 {
		t.Errorf("%+v", w)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	r.MustSpawn(t, "w2", "two")
	r.MustSpawn(t, "w3", "two")
	exit := swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(1700000000, 0)}
	r.One.End(t, "w1", exit)
	var got []string
	err := r.Wait(t.Context(), worker.Selection{All: true}, func(w worker.Worker) {
		got = append(got, w.Name+" "+string(w.Status))
		switch w.Name {
		case "w1":
			r.Two.End(t, "w3", exit)
		case "w3":
			r.Two.Change(t, "w2", func(w *hosttest.Worker) { w.State = swarm.StateLost })
		}
	})
	if diff := cmp.Diff([]string{"w1 stopped", "w3 stopped", "w2 lost"}, got); err != nil || diff != "" {
		t.Errorf("%v; reported (-want +got):\n%s", err, diff)
	}
	r.MustSpawn(t, "w4", "one")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Wait(ctx, worker.Selection{Names: []string{"w4"}}, func(w worker.Worker) { t.Errorf("reported %s", w.Name) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that is given up: %v", err)
	}
}

// A worker that waits in its engine is pending, with what it waits for. A wait for its end goes on,
// also over its start, and a kill ends it.
func TestPending(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w", "one")
	r.MustSpawn(t, "v", "one")
	for _, name := range []string{"w", "v"} {
		r.One.Change(t, name, func(w *hosttest.Worker) { w.State = swarm.StatePending })
	}
	if got := r.Worker(t, "w"); got.Status != worker.StatusPending || got.PID != 0 || got.Gone() || got.Alive() {
		t.Errorf("a pending worker is %+v", got)
	}
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.WantHistory(t, w.Name, "SPAWNED")

	ended := make(chan worker.Worker, 1)
	waits := make(chan error, 1)
	go func() {
		waits <- r.Wait(t.Context(), worker.Selection{Names: []string{"w"}}, func(w worker.Worker) { ended <- w })
	}()
	r.One.Change(t, "w", func(w *hosttest.Worker) { w.State = swarm.StateRunning })
	select {
	case got := <-ended:
		t.Fatalf("the wait ended when the worker was %s", got.Status)
	case <-time.After(50 * time.Millisecond):
	}
	r.One.End(t, "w", swarm.Exit{Code: 7})
	if err := <-waits; err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got.Exit == nil || got.Exit.Code != 7 {
		t.Errorf("the wait returned %+v", got)
	}

	outcomes := r.MustKill(t, worker.Selection{Names: []string{"v"}}, kill.Request{})
	if len(outcomes) != 1 || outcomes[0].Err != nil || outcomes[0].AlreadyEnded {
		t.Errorf("the kill of a pending worker: %+v", outcomes)
	}
}
