package compare_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	a := r.MustSpawn(t, "a", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "plain", "one")
	if _, _, err := r.Workspaces().Compare(t.Context(), "a", swarm.DiffOptions{}); !errors.Is(err, swarm.ErrUnsupported) ||
		err.Error() != "cannot compare the workspace of 'a': plugin 'worktree' does not support diff" {
		t.Errorf("a plugin without it: %v", err)
	}
	r.Announce("worktree", swarm.CapDiff)
	want := swarm.Diff{Files: []swarm.FileChange{{Path: "f", Added: 1}}}
	r.Tree.OnDiff = func(ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
		if ref.Path != a.Workspace.Path || !o.Summary {
			t.Errorf("compared %+v with %+v", ref, o)
		}
		return want, nil
	}
	ref, diff, err := r.Workspaces().Compare(t.Context(), "a", swarm.DiffOptions{Summary: true})
	if err != nil || ref.Path != a.Workspace.Path || !cmp.Equal(diff, want) {
		t.Errorf("%+v, %+v, %v", ref, diff, err)
	}
	r.Tree.OnDiff = func(swarm.WorkspaceRef, swarm.DiffOptions) (swarm.Diff, error) {
		return swarm.Diff{}, swarm.ErrNotFound
	}
	for name, text := range map[string]string{"a": "cannot compare the workspace of 'a': not found", "plain": "worker 'plain' has no workspace"} {
		if _, _, err := r.Workspaces().Compare(t.Context(), name, swarm.DiffOptions{}); err == nil || err.Error() != text {
			t.Errorf("%s: %v, want %s", name, err, text)
		}
	}
	if _, _, err := r.Workspaces().Compare(t.Context(), "ghost", swarm.DiffOptions{}); err == nil {
		t.Error("a worker that does not exist was compared")
	}
}
