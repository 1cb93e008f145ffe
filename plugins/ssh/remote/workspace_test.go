package remote

import (
	"errors"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestReferenceWithoutOrigin refuses a reference that would be accepted on any machine.
func TestReferenceWithoutOrigin(t *testing.T) {
	t.Parallel()
	b := New(Options{Dir: t.TempDir(), Machine: "m"})
	ref := swarm.WorkspaceRef{Path: "/w", Host: "dev", Handle: swarm.Handle{Version: 1, Data: []byte("{}")}}
	if _, err := b.here(ref); !errors.Is(err, swarm.ErrInvalidHandle) {
		t.Errorf("here: %v", err)
	}
	if _, err := b.Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); !errors.Is(err, swarm.ErrInvalidHandle) {
		t.Errorf("Remove: %v", err)
	}
	made, err := b.away(ref, "dev")
	if err != nil {
		t.Fatal(err)
	}
	older := made
	older.Handle.Version = 0
	if _, err := b.here(older); !errors.Is(err, swarm.ErrInvalidHandle) {
		t.Errorf("here, of another version: %v", err)
	}
	if _, err := b.here(made); err != nil {
		t.Errorf("here, of a reference of this machine: %v", err)
	}
}

// TestWorktreeWithoutOrigin makes no worktree on a machine without any id.
func TestWorktreeWithoutOrigin(t *testing.T) {
	t.Parallel()
	b := New(Options{Dir: "/dev/null/none"})
	if _, err := b.Create(t.Context(), swarm.WorkspaceSpec{ID: "an-id", Name: "w", Base: "/repo"}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("Create: %v", err)
	}
}
