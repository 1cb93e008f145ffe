package condition_test

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestOutOfMemoryEnding(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "a", "one")
	r.One.End(t, "a", swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseOutOfMemory, Reason: "limit 2 GiB, peak 2 GiB", Time: time.Now()})
	if c := condition.Of(r.Worker(t, "a")); c.Kind != condition.Failed || c.Text != "out of memory" {
		t.Errorf("%+v", c)
	}
}
