package spawn_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
)

// TestSpawnIsDurable spawns a worker while another process has the registry open, as a watch
// has: nothing that the spawn wrote may be in memory only.
func TestSpawnIsDurable(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "first", "one")
	other, err := registry.Open(t.Context(), r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	r.MustSpawn(t, "second", "one")
	r.WantLogOnDisk(t)
}
