package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// TestStartAhead has a second host guess the backend of a worker that the first one
// spawned.
func TestStartAhead(t *testing.T) {
	t.Parallel()
	first := newRig(t)
	w := first.spawn(t, "w", "one")
	if err := os.WriteFile(filepath.Join(first.dir.RunDir(w.ID), rundir.Socket), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := rigIn(t, first.root)
	for range 2 { // the second call knows the backend
		if got := r.get(t, "w"); got.Status != StatusRunning {
			t.Fatalf("status %s", got.Status)
		}
	}
	if want := []string{"one"}; !slices.Equal(r.plugins.ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.plugins.ahead, want)
	}
}

func TestSpawnStartsAhead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "plain", "one")
	r.spawn(t, "tree", "one", withTree)
	if want := []string{"one", "one", "worktree"}; !slices.Equal(r.plugins.ahead, want) {
		t.Errorf("started ahead: %q, want %q", r.plugins.ahead, want)
	}
}
