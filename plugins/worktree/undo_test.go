package worktree

import (
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestUndo is about what goes with a worktree whose worker did not come to life, and
// about what must not go.
func TestUndo(t *testing.T) {
	t.Parallel()
	undo := swarm.RemoveOptions{Undo: true}
	tests := []struct {
		name    string
		prepare func(*fixture)
		opts    swarm.RemoveOptions
		branch  bool // stays
		above   bool // stays
	}{
		{name: "untouched", opts: undo},
		{name: "no undo", branch: true, above: true},
		{
			name: "committed to", opts: undo, branch: true,
			prepare: func(f *fixture) { f.commit(f.ref.Path, "tracked", "two\n") },
		},
		{
			name: "committed to and reset", opts: undo, branch: true,
			prepare: func(f *fixture) {
				f.commit(f.ref.Path, "tracked", "two\n")
				f.git(f.ref.Path, "reset", "--hard", "--quiet", "HEAD^")
			},
		},
		{
			name: "checked out elsewhere", opts: undo, branch: true,
			prepare: func(f *fixture) { f.git(f.repo, "worktree", "add", "--quiet", "--force", f.top+"/other", "w") },
		},
		{
			name: "made again by the user", opts: undo, branch: true,
			prepare: func(f *fixture) {
				f.git(f.ref.Path, "checkout", "--quiet", "--detach")
				f.git(f.repo, "branch", "-D", "w")
				f.git(f.repo, "branch", "w")
			},
		},
		{
			name: "directory in use", opts: undo, above: true,
			prepare: func(f *fixture) { f.write(filepath.Dir(f.ref.Path), "note", "mine\n") },
		},
		{
			name: "directory deleted", opts: undo, above: true,
			prepare: func(f *fixture) {
				f.must(f.command("/", "rm", "-r", f.ref.Path).Run())
				f.write(filepath.Dir(f.ref.Path), "note", "mine\n")
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			if tt.prepare != nil {
				tt.prepare(f)
			}
			res, err := newWorkspace().Remove(t.Context(), f.ref, tt.opts)
			if err != nil || res.Kept != nil {
				t.Fatalf("Remove: %+v, %v", res, err)
			}
			if f.exists(f.ref.Path) {
				t.Error("the worktree is still there")
			}
			if got := f.command(f.repo, "git", "show-ref", "--quiet", "--verify", "refs/heads/w").Run() == nil; got != tt.branch {
				t.Errorf("the branch exists: %t, want %t", got, tt.branch)
			}
			if got := f.exists(filepath.Dir(f.ref.Path)); got != tt.above {
				t.Errorf("the directory for worktrees exists: %t, want %t", got, tt.above)
			}
		})
	}
}

// TestUndoOfTheLast is about two spawns at once: the one that fails last removes the
// directory which the other one made.
func TestUndoOfTheLast(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	second := f.create(swarm.WorkspaceSpec{ID: "id-v", Name: "v", Base: f.repo})
	for _, ref := range []swarm.WorkspaceRef{f.ref, second} {
		if res, err := newWorkspace().Remove(t.Context(), ref, swarm.RemoveOptions{Undo: true}); err != nil || res.Kept != nil {
			t.Fatalf("Remove: %+v, %v", res, err)
		}
	}
	if f.exists(filepath.Dir(f.ref.Path)) {
		t.Error("the directory for worktrees is still there")
	}
}
