package watch_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestSweepIsWatched: a watch records the end of an agent as it happens.
func TestSweepIsWatched(t *testing.T) {
	t.Parallel()
	r := hosttest.NewWithTeam(t)
	r.Announce("one", swarm.CapWatch)
	r.MustSpawn(t, "a", "one", hosttest.AsAgent)
	r.ClaimTask(t, "a")
	w := r.StartWatch(t)
	r.One.End(t, "a", swarm.Exit{Code: 2, Cause: swarm.CauseExited})
	w.Expect(t, "[a] FAILED: exit status 2")
	if a := r.Agent(t, "a"); a.Status != registry.AgentInactive {
		t.Errorf("it is %s", a.Status)
	}
	r.MustRespawn(t, "a")
	w.Expect(t, "[a] SPAWNED")
	r.MustKill(t, worker.Selection{Names: []string{"a"}}, kill.Request{})
	w.Expect(t, "[a] KILL REQUESTED", "[a] KILLED: by orchestrator")
	if a := r.Agent(t, "a"); a.Status != registry.AgentTerminated {
		t.Errorf("it is %s", a.Status)
	}
}
