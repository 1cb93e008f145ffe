package stats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestStats(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Starter.Peers["one"].Capabilities = append(r.Starter.Peers["one"].Capabilities, swarm.CapStats)
	r.MustSpawn(t, "busy", "one")
	r.MustSpawn(t, "done", "one")
	r.MustSpawn(t, "plain", "two")
	total := 3 * time.Second
	r.One.End(t, "done", swarm.Exit{Cause: swarm.CauseExited, Time: time.Now(), Usage: &swarm.Usage{CPUTime: &total}})
	begin := time.Now()
	spent := time.Second
	r.One.OnStats = func(hosttest.Worker) swarm.Stats {
		// Half a CPU, and at the third look less than before.
		begin, spent = begin.Add(time.Second), spent+time.Second/2
		return swarm.Stats{Time: begin, Usage: swarm.Usage{CPUTime: new(spent)}, Memory: new(int64(1 << 20))}
	}
	figures, _, err := r.Meter().Once(t.Context(), worker.Selection{})
	if err != nil || len(figures) != 3 {
		t.Fatalf("%d figures, %v", len(figures), err)
	}
	byName := map[string]stats.Figures{}
	for _, f := range figures {
		byName[f.Worker.Name] = f
	}
	if f := byName["busy"]; f.Stats == nil || f.Stats.Memory == nil || f.CPU == nil || *f.CPU != 0.5 || *f.Usage().CPUTime != 2*time.Second {
		t.Errorf("busy: %+v", f)
	}
	if f := byName["done"]; f.Err != nil || f.Stats != nil || f.CPU != nil || f.Worker.Status != worker.StatusStopped || f.Usage().CPUTime == nil || *f.Usage().CPUTime != total {
		t.Errorf("done: %+v", f)
	}
	if f := byName["plain"]; !errors.Is(f.Err, swarm.ErrUnsupported) || f.Worker.Status != worker.StatusRunning {
		t.Errorf("plain: %+v", f)
	}
	if _, _, err := r.Meter().Once(t.Context(), worker.Selection{Names: []string{"ghost"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a name that no worker has: %v", err)
	}
}

// A worker whose record goes with its end is gone once it has ended.
func TestStatsOfAnEphemeralWorker(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Starter.Peers["one"].Capabilities = append(r.Starter.Peers["one"].Capabilities, swarm.CapStats)
	r.MustSpawn(t, "once", "one", func(req *spawn.Request) { req.Retain = registry.RetainNone })
	r.One.End(t, "once", swarm.Exit{Cause: swarm.CauseExited, Time: time.Now()})
	if figures, _, err := r.Meter().Once(t.Context(), worker.Selection{Names: []string{"once"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%+v, %v", figures, err)
	}
	if figures, _, err := r.Meter().Once(t.Context(), worker.Selection{}); err != nil || len(figures) != 0 {
		t.Errorf("%+v, %v", figures, err)
	}
}

// TestMeter checks that CPU time which a look missed never makes a share negative.
func TestMeter(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Starter.Peers["one"].Capabilities = append(r.Starter.Peers["one"].Capabilities, swarm.CapStats)
	r.MustSpawn(t, "worker", "one")
	at, spent := time.Now(), time.Duration(0)
	r.One.OnStats = func(hosttest.Worker) swarm.Stats {
		return swarm.Stats{Time: at, Usage: swarm.Usage{CPUTime: new(spent)}}
	}
	m := r.Meter()
	for i, look := range []struct {
		after, spent time.Duration
		want         *float64
	}{
		{0, 5 * time.Second, nil},
		{time.Second, 7 * time.Second, new(2.0)},
		{time.Second, 6 * time.Second, new(0.0)},
		{0, 6 * time.Second, nil},
		{2 * time.Second, 7 * time.Second, new(0.5)},
	} {
		at, spent = at.Add(look.after), look.spent
		figures, _, err := m.Look(t.Context(), worker.Selection{Names: []string{"worker"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := figures[0].CPU; (got == nil) != (look.want == nil) || got != nil && *got != *look.want {
			t.Errorf("look %d: %v, want %v", i, got, look.want)
		}
	}
}
