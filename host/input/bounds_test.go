package input_test

import (
	"errors"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// bounded gives a backend the capabilities to limit and to pause.
func bounded(t *testing.T) *hosttest.Rig {
	t.Helper()
	r := hosttest.New(t)
	r.Starter.Peers["one"].Capabilities = append(r.Starter.Peers["one"].Capabilities,
		swarm.CapPause, swarm.CapSetLimits, swarm.CapLimitMemory, swarm.CapLimitCPUs)
	return r
}

func TestPause(t *testing.T) {
	t.Parallel()
	r := bounded(t)
	r.MustSpawn(t, "a", "one")
	r.MustSpawn(t, "b", "one")
	r.MustSpawn(t, "plain", "two")
	r.One.End(t, "b", swarm.Exit{Cause: swarm.CauseExited, Time: time.Now()})
	all, err := r.Input().Pause(t.Context(), worker.Selection{All: true}, true)
	if err != nil || len(all) != 1 || all[0].Err != nil || !all[0].Worker.Paused {
		t.Fatalf("%+v, %v", all, err)
	}
	if w := r.Worker(t, "a"); condition.Of(w).Kind != condition.Paused || condition.Of(w).Text != "paused" {
		t.Errorf("%+v", condition.Of(w))
	}
	all, err = r.Input().Pause(t.Context(), worker.Selection{Names: []string{"a", "b", "plain"}}, false)
	if err != nil || all[0].Err != nil || !errors.Is(all[1].Err, worker.ErrEnded) || !errors.Is(all[2].Err, swarm.ErrUnsupported) {
		t.Errorf("%+v, %v", all, err)
	}
	if r.Worker(t, "a").Paused {
		t.Error("it is still paused")
	}
}

func TestSetLimits(t *testing.T) {
	t.Parallel()
	r := bounded(t)
	w := r.MustSpawn(t, "a", "one", func(req *spawn.Request) { req.Limits = swarm.Limits{Memory: 1 << 30} })
	if w.Limits.Memory != 1<<30 || r.One.Worker(t, "a").Spec.Limits != w.Limits {
		t.Errorf("spawned with %+v", w.Limits)
	}
	sel := worker.Selection{Names: []string{"a"}}
	all, err := r.Input().SetLimits(t.Context(), sel, func(l *swarm.Limits) { l.CPUs = 0.5 })
	want := swarm.Limits{Memory: 1 << 30, CPUs: 0.5}
	if err != nil || all[0].Err != nil || all[0].Worker.Limits != want || r.Worker(t, "a").Limits != want || r.One.Worker(t, "a").Spec.Limits != want {
		t.Errorf("%+v, %v", all, err)
	}
	// A limit that a backend can't enforce is refused before anything is started or changed.
	all, err = r.Input().SetLimits(t.Context(), sel, func(l *swarm.Limits) { l.PIDs = 5 })
	if err != nil || !errors.Is(all[0].Err, swarm.ErrUnsupported) || r.Worker(t, "a").Limits != want {
		t.Errorf("%+v, %v", all, err)
	}
	all, err = r.Input().SetLimits(t.Context(), sel, func(l *swarm.Limits) { l.CPUs = -1 })
	if err != nil || !errors.Is(all[0].Err, swarm.ErrInvalidSpec) {
		t.Errorf("%+v, %v", all, err)
	}
	req := r.Request("b", "one")
	req.Limits = swarm.Limits{PIDs: 5}
	if _, err := r.Spawn().Spawn(t.Context(), req); !errors.Is(err, swarm.ErrUnsupported) {
		t.Errorf("a spawn with a limit that the backend can't enforce: %v", err)
	}
	req.Limits = swarm.Limits{Memory: 5}
	if _, err := r.Spawn().Spawn(t.Context(), req); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a spawn with a limit that makes no sense: %v", err)
	}
}
