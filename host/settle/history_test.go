package settle_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
)

// The history says what became of an interrupted spawn.
func TestHistoryOfInterruptedSpawns(t *testing.T) {
	t.Parallel()
	for step, want := range map[string][]string{
		"before": {"FAILED: spawn was interrupted"},
		"after":  {"SPAWNED"},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			hosttest.CrashAt(t, root, step)
			r := hosttest.NewIn(t, root)
			r.MustSpawn(t, "x", "one")
			r.MustSpawn(t, "y", "one")
			r.WantHistory(t, "w1", want...)
		})
	}
}
