package worktree

import (
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// A caller that is about to end the processes in a worktree learns the other reasons to
// keep it; a removal does not rely on such a promise.
func TestVacant(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.live(f.ref.Path, "sh", "-c", "echo; read x")
	w, vacant := newWorkspace(), swarm.RemoveOptions{Vacant: true}
	inspect := func() *swarm.Kept {
		t.Helper()
		s, err := w.Inspect(t.Context(), f.ref, vacant)
		if err != nil {
			t.Fatal(err)
		}
		return s.Kept
	}
	if kept := inspect(); kept != nil {
		t.Errorf("kept without its processes: %+v", kept)
	}
	f.write(f.ref.Path, "new", "new\n")
	if kept := inspect(); kept == nil || !kept.Forceable {
		t.Errorf("with changes it is %+v, want it kept, forceable", kept)
	}
	vacant.Force = true
	if kept := inspect(); kept != nil {
		t.Errorf("forced it is kept: %+v", kept)
	}
	res, err := w.Remove(t.Context(), f.ref, vacant)
	if err != nil || res.Kept == nil || res.Kept.Forceable {
		t.Errorf("Remove: %+v, %v, want kept", res, err)
	}
}
