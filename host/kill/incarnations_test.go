package kill_test

import (
	"os"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

// A worker goes with the run directories of all its incarnations.
func TestCleanIncarnations(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"clean", "kill"} {
		r := hosttest.New(t)
		first := r.MustSpawn(t, "w", "one", func(q *spawn.Request) {
			if how == "kill" {
				q.Retain = "0s"
			}
		})
		second := r.MustRespawn(t, "w")
		r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{})
		if how == "clean" {
			if out, err := r.Kill().Clean(t.Context(), worker.Selection{Names: []string{"w"}}, kill.CleanRequest{}); err != nil || out[0].Err != nil {
				t.Fatal(out, err)
			}
		} else {
			if _, err := r.Watch().Collect(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{first.ID, second.ID} {
			if _, err := os.Stat(r.StateDir().RunDir(id)); err == nil {
				t.Errorf("%s: the run directory of %s is still there", how, id)
			}
		}
	}
}
