package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// stranger is a user who runs nothing here.
const stranger = 4242

// TestDirectoryOfOthers is about a directory for worktrees that another user made
// or can write.
func TestDirectoryOfOthers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		root bool
		make func(shared, trees string) error
		dir  string // --worktree-dir, below shared
		want string // in the error; empty: it is used
	}{
		{name: "none", make: func(string, string) error { return nil }},
		{name: "own", make: func(_, trees string) error { return os.Mkdir(trees, 0o755) }},
		{
			name: "another user's", root: true, want: "repo-worktrees is owned by uid 4242",
			make: func(_, trees string) error {
				return errors.Join(os.Mkdir(trees, 0o755), os.Chown(trees, stranger, stranger))
			},
		},
		{
			name: "for all to write", want: "repo-worktrees can be written",
			make: func(_, trees string) error { return errors.Join(os.Mkdir(trees, 0o755), os.Chmod(trees, 0o777)) },
		},
		{
			name: "another user's link", root: true, want: "repo-worktrees is owned by uid 4242",
			make: func(shared, trees string) error {
				return errors.Join(os.Mkdir(shared+"/mine", 0o755), os.Symlink(shared+"/mine", trees), os.Lchown(trees, stranger, stranger))
			},
		},
		{
			name: "in a directory that all can exchange", want: "shared can be written",
			make: func(shared, _ string) error { return os.Chmod(shared, 0o777) },
		},
		{
			name: "next to a repository in another user's directory", root: true,
			make: func(shared, _ string) error { return os.Chown(shared, stranger, stranger) },
		},
		{
			name: "another user's in another user's", root: true, want: "repo-worktrees is owned by uid 4242",
			make: func(shared, trees string) error {
				return errors.Join(os.Mkdir(trees, 0o755), os.Chown(trees, stranger, stranger), os.Chown(shared, stranger, stranger))
			},
		},
		{
			name: "below another user's", root: true, dir: "theirs/deep", want: "theirs is owned by uid 4242",
			make: func(shared, _ string) error {
				return errors.Join(os.Mkdir(shared+"/theirs", 0o755), os.Chown(shared+"/theirs", stranger, stranger))
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			f := newFixture(t)
			shared := filepath.Join(f.top, "shared")
			f.must(os.Mkdir(shared, 0o1777))
			f.must(os.Chmod(shared, 0o777|fs.ModeSticky))
			repo := filepath.Join(shared, "repo")
			f.must(os.Rename(f.repo, repo))
			f.must(tt.make(shared, repo+"-worktrees"))
			spec := swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: repo}
			if tt.dir != "" {
				spec.Parent = filepath.Join(shared, tt.dir)
			}
			ref, err := newWorkspace().Create(t.Context(), spec)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("Create: %v", err)
				}
				if res, err := newWorkspace().Remove(t.Context(), ref, swarm.RemoveOptions{}); err != nil || res.Kept != nil {
					t.Errorf("Remove: %+v, %v", res, err)
				}
				return
			}
			if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Create: %v, want %q", err, tt.want)
			}
			if f.exists(repo + "-worktrees/w") {
				t.Error("a worktree was made")
			}
		})
	}
}

// TestDirectoryIsAsPrivateAsTheRepository is about what others can read.
func TestDirectoryIsAsPrivateAsTheRepository(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		below, top fs.FileMode // of the repository, and of the directory that it is in
		made       bool        // the directory is there before, and public
		trees, own fs.FileMode
	}{
		{name: "public", below: 0o755, top: 0o755, trees: 0o755, own: 0o755},
		{name: "private", below: 0o700, top: 0o755, trees: 0o700, own: 0o700},
		{name: "for a group", below: 0o750, top: 0o755, trees: 0o700, own: 0o700},
		{name: "in a private directory", below: 0o755, top: 0o700, trees: 0o700, own: 0o700},
		{name: "private, in a public directory", below: 0o700, top: 0o755, made: true, trees: 0o755, own: 0o700},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			// The directories of tests are private.
			for dir := f.top; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
				f.must(os.Chmod(dir, 0o755))
			}
			f.must(os.Mkdir(f.top+"/at", 0o755))
			repo, trees := f.top+"/at/repo", f.top+"/trees"
			f.must(os.Rename(f.repo, repo))
			f.must(os.Chmod(repo, tt.below))
			f.must(os.Chmod(f.top+"/at", tt.top))
			if tt.made {
				f.must(os.Mkdir(trees, 0o755))
			}
			ref := f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: repo, Parent: trees})
			for path, want := range map[string]fs.FileMode{trees: tt.trees, ref.Path: tt.own} {
				info, err := os.Stat(path)
				f.must(err)
				// The umask may take more.
				if got := info.Mode().Perm(); got&^want != 0 {
					t.Errorf("the mode of %s is %04o, want %04o", path, got, want)
				}
			}
			if info, err := os.Stat(ref.Path); err != nil || tt.own == 0o755 && info.Mode().Perm()&0o700 != 0o700 {
				t.Errorf("the worktree can't be used: %v", err)
			}
		})
	}
}
