package kill_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/worker"
)

// Whatever becomes of workers, no lock's file outlives the call that took it.
func TestCallsLeaveNoLocks(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "e", "one", hosttest.Ephemeral)
	r.WantNoLocks(t)
	r.MustRespawn(t, "w")
	r.MustKill(t, worker.Selection{All: true}, kill.Request{RemoveWorkspace: true})
	r.WantNoLocks(t)
	r.MustClean(t, "w")
	hosttest.CrashAt(t, r.Root, "before")
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.WantNoLocks(t)
}
