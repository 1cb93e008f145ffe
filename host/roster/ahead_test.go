package roster_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestStartAhead has a second host guess the backend of a worker that the first one
// spawned.
func TestStartAhead(t *testing.T) {
	t.Parallel()
	first := hosttest.New(t)
	w := first.MustSpawn(t, "w", "one")
	if err := os.WriteFile(filepath.Join(first.StateDir().RunDir(w.ID), rundir.Socket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := hosttest.NewIn(t, first.Root)
	for range 2 { // the second call knows the backend
		if got := r.Worker(t, "w"); got.Status != worker.StatusRunning {
			t.Fatalf("status %s", got.Status)
		}
	}
	if want := []string{"one"}; !slices.Equal(r.Starter.Ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.Starter.Ahead, want)
	}
}
