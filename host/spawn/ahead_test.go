package spawn_test

import (
	"slices"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
)

func TestSpawnStartsAhead(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "plain", "one")
	r.MustSpawn(t, "tree", "one", hosttest.InWorkspace)
	if want := []string{"one", "one", "worktree"}; !slices.Equal(r.Starter.Ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.Starter.Ahead, want)
	}
}
