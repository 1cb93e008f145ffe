package inspect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m, nil)) }

// made makes a repository and the worktree of worker "w".
func made(t *testing.T) (*repo.Repo, swarm.WorkspaceRef) {
	t.Helper()
	dir := gittest.New(t, map[string]string{"file": "one\n", "gone": "one\n", ".gitignore": "*.log\nbuild/\n"})
	r, err := repo.Open(t.Context(), git.Git{Bin: "git"}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	spec := swarm.WorkspaceSpec{ID: "id", Name: "w"}
	at, err := r.StartOf(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(dir), "w")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.MakeBranch(t.Context(), "id", "w", at, &repo.Undo{}); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckOut(t.Context(), "id", path, "w", 0, &repo.Undo{}); err != nil {
		t.Fatal(err)
	}
	return r, swarm.WorkspaceRef{ID: "id", Name: "w", Path: path, Branch: "w", Base: dir}
}

func look(t *testing.T, r *repo.Repo, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (*Tree, *swarm.Kept) {
	t.Helper()
	tree, kept, err := Worktree(t.Context(), r, ref, opts, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return tree, kept
}

// TestKept names what keeps a worktree, and whether the user can force its removal.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		forceable  bool
		change     func(t *testing.T, ref swarm.WorkspaceRef)
	}{
		{name: "nothing", change: func(*testing.T, swarm.WorkspaceRef) {}},
		{
			name: "changes", want: "worktree has 2 uncommitted change(s)", forceable: true,
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Write(t, ref.Path, "file", "two\n")
				gittest.Write(t, ref.Path, "new", "new\n")
			},
		},
		{
			name: "hidden changes", want: "worktree has 1 change(s) in files marked assume-unchanged or skip-worktree", forceable: true,
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Run(t, ref.Path, "update-index", "--assume-unchanged", "file")
				gittest.Write(t, ref.Path, "file", "two\n")
			},
		},
		{
			name: "ignored", want: "worktree has 11 MiB of ignored files outside of ignored directories", forceable: true,
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Write(t, ref.Path, "large.log", strings.Repeat("x", ignoredLimit+1))
			},
		},
		{
			name: "an operation", want: "a merge is in progress",
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Write(t, gittest.Run(t, ref.Path, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD", "")
			},
		},
		{
			name: "a lock", want: "worktree is locked: mine",
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Run(t, ref.Path, "worktree", "lock", "--reason", "mine", ref.Path)
			},
		},
		{
			name: "a repository in an ignored directory", want: "it contains another git repository: 'build/other'",
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Run(t, ref.Path, "init", "-q", "build/other")
			},
		},
		{
			name: "another worker's", want: "was not made for this worker",
			change: func(t *testing.T, ref swarm.WorkspaceRef) {
				gittest.Write(t, gittest.Run(t, ref.Path, "rev-parse", "--absolute-git-dir"), "swarm-worker", "another\n")
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, ref := made(t)
			tt.change(t, ref)
			_, kept := look(t, r, ref, swarm.RemoveOptions{})
			if tt.want == "" {
				if kept != nil {
					t.Errorf("it is kept: %s", kept.Reason)
				}
				return
			}
			if kept == nil || !strings.Contains(kept.Reason, tt.want) || kept.Forceable != tt.forceable {
				t.Fatalf("kept: %+v, want %q, forceable %t", kept, tt.want, tt.forceable)
			}
			if _, kept = look(t, r, ref, swarm.RemoveOptions{Force: true}); (kept == nil) != tt.forceable {
				t.Errorf("by force it is kept: %+v", kept)
			}
		})
	}
}

// TestWorkTree makes a tree of what is there, whatever git was asked to overlook.
func TestWorkTree(t *testing.T) {
	t.Parallel()
	r, ref := made(t)
	gittest.Run(t, ref.Path, "update-index", "--skip-worktree", "file")
	gittest.Write(t, ref.Path, "file", "two\n")
	gittest.Write(t, ref.Path, "new", "new\n")
	gittest.Write(t, ref.Path, "a.log", "log\n")
	gittest.Write(t, ref.Path, "build/out", "out\n")
	if err := os.Remove(filepath.Join(ref.Path, "gone")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(ref.Path, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, kept := look(t, r, ref, swarm.RemoveOptions{Force: true})
	if kept != nil {
		t.Fatal(kept.Reason)
	}
	hash, saved, deleted, err := tree.WorkTree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.log", "file", "new"}; !slices.Equal(saved, want) {
		t.Errorf("saved %q, want %q", saved, want)
	}
	if want := []string{"gone"}; !slices.Equal(deleted, want) {
		t.Errorf("deleted %q, want %q", deleted, want)
	}
	if want := []string{"pipe"}; !slices.Equal(tree.Special, want) {
		t.Errorf("special %q, want %q", tree.Special, want)
	}
	if got, want := gittest.Run(t, r.Main, "ls-tree", "-r", "--name-only", hash), ".gitignore\na.log\nfile\nnew"; got != want {
		t.Errorf("the tree has %q, want %q", got, want)
	}
	if got := gittest.Run(t, r.Main, "cat-file", "blob", hash+":file"); got != "two" {
		t.Errorf("the changed file is %q in the tree", got)
	}
	if got := gittest.Run(t, ref.Path, "ls-files", "-t", "file"); got != "S file" {
		t.Errorf("the index of the worktree changed: %q", got)
	}
}

// TestLastLook: any change after the checks keeps a worktree.
func TestLastLook(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"none":    func(string) error { return nil },
		"a file":  func(path string) error { return os.WriteFile(filepath.Join(path, "late"), nil, 0o600) },
		"a mode":  func(path string) error { return os.Chmod(filepath.Join(path, "file"), 0o600) },
		"a write": func(path string) error { return os.WriteFile(filepath.Join(path, "file"), []byte("two\n"), 0o600) },
	} {
		r, ref := made(t)
		tree, kept := look(t, r, ref, swarm.RemoveOptions{})
		if kept != nil {
			t.Fatal(kept.Reason)
		}
		if err := change(ref.Path); err != nil {
			t.Fatal(err)
		}
		kept, err := tree.LastLook(t.Context())
		if err != nil || (kept == nil) != (name == "none") {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
	}
}

// TestFindMoved is about a worktree that is no longer at its place: the reason names the other one.
func TestFindMoved(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(t *testing.T, from, to string){
		"it was moved to": func(t *testing.T, from, to string) { gittest.Run(t, from, "worktree", "move", from, to) },
		"it was moved by hand to": func(t *testing.T, from, to string) {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		},
	} {
		r, ref := made(t)
		to := ref.Path + "-elsewhere"
		move(t, ref.Path, to)
		_, kept, err := Find(t.Context(), r, ref)
		if err != nil || kept == nil || !strings.Contains(kept.Reason, name+" "+to) {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		tree, kept, err := Find(t.Context(), r, ref)
		if err != nil || kept != nil || !tree.Missing {
			t.Errorf("a worktree that is gone: %+v, %v", kept, err)
		}
	}
}
