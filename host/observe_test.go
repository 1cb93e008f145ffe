package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	if ws, _, err := r.Workers(t.Context(), worker.Selection{}); err != nil || len(ws) != 0 {
		t.Errorf("without a state directory: %v, %v", ws, err)
	}
	if names, err := store.Names(t.Context(), r.Dir()); err != nil || names != nil {
		t.Errorf("names without a state directory: %v, %v", names, err)
	}
	r.MustSpawn(t, "runs", "one")
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.MustSpawn(t, "lost", "one")
	r.One.End(t, "ended", swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: time.Unix(1700000000, 0)})
	r.One.Change(t, "lost", func(w *hosttest.Worker) { w.State = swarm.StateLost })
	r.Starter.Errors["two"] = fmt.Errorf("%w: no such cluster", swarm.ErrUnavailable)

	ws, warnings, err := r.Workers(t.Context(), worker.Selection{})
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	var got []string
	for _, w := range ws {
		got = append(got, w.Name+" "+string(w.Status)+" "+w.Reason)
	}
	want := []string{"runs running ", "far unknown no such cluster", "ended stopped ", "lost lost " + history.ReasonLost}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
	if ws[2].Exit == nil || ws[2].Exit.Code != 3 || ws[2].Ended.Unix() != 1700000000 || ws[2].PID != 0 {
		t.Errorf("ended: %+v", ws[2])
	}
	if names, err := store.Names(t.Context(), r.Dir()); err != nil || !slices.Equal(names, []string{"runs", "far", "ended", "lost"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if _, _, err := r.Workers(t.Context(), worker.Selection{Names: []string{"run"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a prefix of a name: %v", err)
	}
}

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
			return plugin.ErrPluginGone
		}
		return nil
	}
	if w := r.Worker(t, "w1"); w.Status != worker.StatusRunning || calls != 2 || r.Starter.Restarts["one"] != 1 {
		t.Errorf("%s after %d calls and %d restarts", w.Status, calls, r.Starter.Restarts["one"])
	}
	r.One.BeforeStatus = func(context.Context) error { return plugin.ErrPluginGone }
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
	reg, err := r.Store().Reading(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := reg.Read(t.Context(), registry.Query{})
	if err != nil || recs[0].State != registry.Running {
		t.Errorf("the record is %s, %v; want it untouched", recs[0].State, err)
	}
}

// The plugin settings in a worker's record are used, not those of the present config.
func TestRecordedPlugin(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	reg, err := r.Store().Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	moved := &registry.Plugin{Command: []string{"/gone/swarm-plugin-one"}, Config: map[string]any{"region": "x"}}
	if e, err := r.Backends().Entry("one", moved); err != nil || !strings.HasPrefix(e.Path(), r.Root) || e.Config["region"] != "x" {
		t.Errorf("a plugin that was moved: %+v, %v", e, err)
	}
	path := r.Root + "/bin/swarm-plugin-two"
	if e, err := r.Backends().Entry("one", &registry.Plugin{Command: []string{path, "-x"}}); err != nil || !slices.Equal(e.Command, []string{path, "-x"}) {
		t.Errorf("a recorded command: %+v, %v", e, err)
	}
	if err := reg.Edit(t.Context(), r.Worker(t, "w1").ID, func(rec *registry.Record) { rec.Plugin = moved }); err != nil {
		t.Fatal(err)
	}
	r.MustSpawn(t, "w2", "one")
	if diff := cmp.Diff(map[string]worker.Status{"w1": worker.StatusRunning, "w2": worker.StatusRunning}, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
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
		t.Errorf("%v; told (-want +got):\n%s", err, diff)
	}
	r.MustSpawn(t, "w4", "one")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Wait(ctx, worker.Selection{Names: []string{"w4"}}, func(w worker.Worker) { t.Errorf("told %s", w.Name) }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that is given up: %v", err)
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	w := r.MustSpawn(t, "w1", "one")
	read := func() (string, error) {
		var b strings.Builder
		err := r.Display().Logs(t.Context(), "w1", swarm.OutputOptions{}, func(o swarm.Output) error {
			b.Write(o.Data)
			return nil
		})
		return b.String(), err
	}
	if text, err := read(); err != nil || text != "output of "+w.ID {
		t.Errorf("running: %q, %v", text, err)
	}
	r.MustKill(t, worker.Selection{All: true}, kill.Request{})
	if text, err := read(); err != nil || text != "output of "+w.ID {
		t.Errorf("stopped: %q, %v", text, err)
	}
	boom := errors.New("boom")
	if err := r.Display().Logs(t.Context(), "w1", swarm.OutputOptions{}, func(swarm.Output) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("an error of the reader: %v", err)
	}
	if err := r.Display().Logs(t.Context(), "ghost", swarm.OutputOptions{}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown worker: %v", err)
	}
}
