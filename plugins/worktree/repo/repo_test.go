package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m, nil)) }

// TestOpen opens a repository from where a user may stand, also where paths have line
// breaks. Its main working tree is found, with one call of rev-parse where that is enough.
func TestOpen(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"plain": "its", "line break": "re\npo", "at the end": "repo\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := gittest.New(t, map[string]string{"dir/file": "one\n"})
			top := filepath.Dir(made)
			repo := filepath.Join(top, dir)
			if err := os.Rename(made, repo); err != nil {
				t.Fatal(err)
			}
			linked := filepath.Join(top, dir+"-linked")
			gittest.Run(t, repo, "worktree", "add", "-q", "-b", "linked", linked)
			bare := filepath.Join(top, dir+".git")
			gittest.Run(t, top, "clone", "-q", "--bare", repo, bare)
			for _, c := range []struct {
				from, main, common string
				asked              int
			}{
				{repo, repo, filepath.Join(repo, ".git"), 1},
				{filepath.Join(repo, "dir"), repo, filepath.Join(repo, ".git"), 1},
				{linked, repo, filepath.Join(repo, ".git"), 2},
				{bare, bare, bare, 2},
			} {
				var asked int
				g := git.Git{Bin: "git", Before: func(args []string) {
					if slices.Contains(args, "rev-parse") {
						asked++
					}
				}}
				r, err := Open(t.Context(), g, c.from, true)
				if err != nil {
					t.Errorf("from %q: %v", c.from, err)
					continue
				}
				if r.Main != c.main || r.Common != c.common {
					t.Errorf("from %q: main %q, common %q; want %q, %q", c.from, r.Main, r.Common, c.main, c.common)
				}
				if name == "plain" && asked != c.asked {
					t.Errorf("from %q: %d calls of rev-parse, want %d", c.from, asked, c.asked)
				}
			}
		})
	}
}

func open(t *testing.T) (*Repo, string) {
	t.Helper()
	dir := gittest.New(t, map[string]string{"file": "one\n"})
	r, err := Open(t.Context(), git.Git{Bin: "git"}, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return r, filepath.Dir(dir)
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for at, want := range map[string]string{
		dir:              "not in a git repository",
		dir + "/nowhere": "no directory",
	} {
		if _, err := Open(t.Context(), git.Git{Bin: "git"}, at, false); !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v, want %q", at, err, want)
		}
	}
}

// TestLockExcludes: a second caller waits, and no longer than it may.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	r, _ := open(t)
	unlock, err := r.Lock(t.Context(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(t.Context(), 20*time.Millisecond); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("the second lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Lock(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a lock whose caller gave up: %v", err)
	}
	unlock()
	if unlock, err = r.Lock(t.Context(), time.Minute); err != nil {
		t.Fatalf("the free lock: %v", err)
	}
	unlock()
}

// TestCheckOut makes a worktree, which can be found by its worker, and takes it back.
func TestCheckOut(t *testing.T) {
	t.Parallel()
	r, top := open(t)
	at, err := r.StartOf(t.Context(), swarm.WorkspaceSpec{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	var done Undo
	path := filepath.Join(top, "deep", "w")
	above, err := done.MkdirAll(path, 0o700)
	if err != nil || above != 2 {
		t.Fatalf("MkdirAll made %d directories: %v, want 2", above, err)
	}
	if err := r.MakeBranch(t.Context(), "id", "w", at, &done); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckOut(t.Context(), "id", path, "w", above, &done); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(path, "file")); err != nil || string(text) != "one\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
	admins, err := Admins(r.Common)
	if err != nil || len(admins) != 1 {
		t.Fatalf("Admins: %+v, %v, want one", admins, err)
	}
	if a := admins[0]; a.ID != "id" || a.Worktree != path || !a.Made || a.Above != above || a.FirstHead() != at.Commit {
		t.Errorf("the administrative directory says %+v, first head %s; want id, %s, made, %d, %s", a, a.FirstHead(), path, above, at.Commit)
	}
	if where, err := r.CheckedOutAt(t.Context(), "w"); err != nil || where != path {
		t.Errorf("the branch is checked out at %q, %v", where, err)
	}
	failure := errors.New("a failure")
	if err := done.After(t.Context(), failure); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory above stays: %v", err)
	}
	if exists, err := r.hasRef(t.Context(), "refs/heads/w"); err != nil || exists {
		t.Errorf("the branch stays: %v", err)
	}
}

// TestDropBranch: only the branch of that worker goes, and only if nothing has happened to it.
func TestDropBranch(t *testing.T) {
	t.Parallel()
	r, _ := open(t)
	at, err := r.StartOf(t.Context(), swarm.WorkspaceSpec{Name: "w"})
	if err != nil {
		t.Fatal(err)
	}
	for branch, change := range map[string]func(){
		"untouched": func() {},
		"other":     func() {},
		"moved": func() {
			gittest.Run(t, r.Main, "commit", "-q", "--allow-empty", "-m", "more")
			gittest.Run(t, r.Main, "branch", "-q", "-f", "moved", "HEAD")
		},
	} {
		if err := r.MakeBranch(t.Context(), "id", branch, at, &Undo{}); err != nil {
			t.Fatal(err)
		}
		change()
		ref := swarm.WorkspaceRef{ID: "id", Branch: branch}
		if branch == "other" {
			ref.ID = "another"
		}
		if err := r.DropBranch(t.Context(), ref); err != nil {
			t.Errorf("%s: %v", branch, err)
		}
		if exists, err := r.hasRef(t.Context(), "refs/heads/"+branch); err != nil || exists != (branch != "untouched") {
			t.Errorf("%s: it exists: %t, %v", branch, exists, err)
		}
	}
}

// TestPlain refuses to write through symbolic links.
func TestPlain(t *testing.T) {
	t.Parallel()
	r, top := open(t)
	if err := errors.Join(r.PlainRef("refs/heads/main"), r.PlainRef("refs/heads/new/x"), r.PlainObjects()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"refs/heads/new", "logs/refs/heads/other", "objects/ab"} {
		if err := os.Symlink(top, filepath.Join(r.Common, path)); err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range map[string]error{
		"a reference": r.PlainRef("refs/heads/new/x"), "a log": r.PlainRef("refs/heads/other"), "objects": r.PlainObjects(),
	} {
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s behind a link: %v", what, err)
		}
	}
}
