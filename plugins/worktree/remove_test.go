package worktree

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestChangedMeanwhile writes between the inspection and the removal.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(f *fixture, wt string){
		"tracked":   func(f *fixture, wt string) { f.write(wt, "tracked", "new\n") },
		"untracked": func(f *fixture, wt string) { f.write(wt, "new", "new\n") },
		"dirty already": func(f *fixture, wt string) {
			f.write(wt, "dirty", "even newer\n")
		},
		"ignored": func(f *fixture, wt string) { f.write(wt, "build/out", "new\n") },
		"staged":  func(f *fixture, wt string) { f.git(wt, "rm", "-q", "--cached", "other") },
		"head":    func(f *fixture, wt string) { f.git(wt, "checkout", "-q", "--detach") },
		"commit":  func(f *fixture, wt string) { f.git(wt, "commit", "-q", "--allow-empty", "-m", "new") },
		"moved in": func(f *fixture, wt string) {
			f.live(wt, "sh", "-c", "echo; read x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.write(f.ref.Path, "dirty", "new\n")
			f.write(f.ref.Path, "build/out", "old\n")
			w := newWorkspace()
			var after string
			w.beforeRemoval = func() {
				write(f, f.ref.Path)
				after = f.manifest(f.ref.Path)
			}
			res, err := w.Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept == nil || res.Kept.Forceable {
				t.Fatalf("Remove: %+v, %v, want kept", res, err)
			}
			if diff := cmp.Diff(after, f.manifest(f.ref.Path)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			if refs := f.rescueRefs(); len(refs) > 0 || len(res.Rescues) > 0 {
				t.Errorf("rescues left: %v", refs)
			}
		})
	}
}

// TestMissing removes what is gone already.
func TestMissing(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	other := f.create(swarm.WorkspaceSpec{ID: "id-o", Name: "other", Base: f.repo})
	f.git(f.ref.Path, "checkout", "-q", "--detach")
	lost := f.commit(f.ref.Path, "tracked", "two\n")
	f.must(os.RemoveAll(f.ref.Path))
	f.must(os.RemoveAll(other.Path))
	got := f.removeFrom("/", swarm.RemoveOptions{})
	if !got.State.Missing || got.Result.Kept != nil || got.Err != "" {
		t.Errorf("got %+v, want missing and removed", got)
	}
	list := f.git(f.repo, "worktree", "list", "--porcelain")
	if strings.Contains(list, f.ref.Path+"\n") || !strings.Contains(list, other.Path+"\n") {
		t.Errorf("want only this one forgotten:\n%s", list)
	}
	if len(got.Result.Rescues) != 1 || f.git(f.repo, "rev-parse", got.Result.Rescues[0].Ref) != lost+"\n" {
		t.Errorf("rescues %+v, want %s", got.Result.Rescues, lost)
	}
	// Once more, and without the repository.
	for range 2 {
		if got := f.removeFrom("/", swarm.RemoveOptions{}); !got.State.Missing || got.Result.Kept != nil || got.Err != "" {
			t.Errorf("again: %+v, want missing and removed", got)
		}
		f.must(os.RemoveAll(f.repo))
	}
}

// TestMovedByHand names the place of a worktree that was moved without git's knowledge, and
// keeps git's part of it.
func TestMovedByHand(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(f *fixture) (at string){
		"next to it":             func(f *fixture) string { return filepath.Join(filepath.Dir(f.ref.Path), "other") },
		"next to the repository": func(f *fixture) string { return filepath.Join(f.top, "other name") },
		"deeper":                 func(f *fixture) string { return filepath.Join(f.top, "archive", "w") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.write(f.ref.Path, "new", "x\n")
			at := move(f)
			f.must(os.MkdirAll(filepath.Dir(at), 0o700))
			f.must(os.Rename(f.ref.Path, at))
			got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
			if got.Result.Kept == nil || !strings.HasPrefix(got.Result.Kept.Reason, "it was moved by hand to "+at) {
				t.Errorf("%+v, %+v", got.Result, got.Result.Kept)
			}
			f.git(at, "worktree", "repair")
			if got := f.git(at, "status", "--porcelain"); got != "?? new\n" {
				t.Errorf("status %q", got)
			}
			if got := f.removeFrom("/", swarm.RemoveOptions{Force: true}); got.Result.Kept == nil || got.Result.Kept.Reason != "it was moved to "+at {
				t.Errorf("repaired: %+v", got.Result.Kept)
			}
		})
	}
}

// TestMissingHoldsWork keeps an administrative directory in which something is.
func TestMissingHoldsWork(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(f *fixture, wt string){
		"staged": func(f *fixture, wt string) {
			f.write(wt, "tracked", "staged\n")
			f.git(wt, "add", "tracked")
		},
		"locked":    func(f *fixture, wt string) { f.git(f.repo, "worktree", "lock", wt) },
		"bisect":    func(f *fixture, wt string) { f.git(wt, "bisect", "start") },
		"submodule": func(f *fixture, wt string) { f.submodule(wt) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			work(f, f.ref.Path)
			admin := f.admin()
			f.must(os.RemoveAll(f.ref.Path))
			before := f.manifest(admin)
			got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
			if !got.State.Missing || got.Result.Kept != nil || got.Err != "" {
				t.Errorf("got %+v, want missing and removed", got)
			}
			if diff := cmp.Diff(before, f.manifest(admin)); diff != "" {
				t.Errorf("administrative directory (-before +after):\n%s", diff)
			}
			if _, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-2", Name: "w", Base: f.repo, Branch: "new"}); err == nil {
				t.Error("Create used the path")
			}
		})
	}
}

// TestOldCommits rescues what only the log of the worktree's HEAD reaches.
func TestOldCommits(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	wt := f.ref.Path
	f.git(wt, "checkout", "-q", "--detach")
	lost := f.commit(wt, "tracked", "detached\n")
	f.git(wt, "checkout", "-q", "w")
	f.commit(wt, "tracked", "one\n\n")
	f.git(wt, "commit", "-q", "--amend", "-m", "amended")
	named := strings.TrimSpace(f.git(wt, "commit-tree", "-m", "named", "HEAD^{tree}"))
	f.git(wt, "update-ref", "refs/worktree/mine", named)
	// A ref of another worktree keeps nothing.
	f.git(f.repo, "update-ref", "refs/worktree/theirs", lost)
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{})
	if err != nil || res.Kept != nil {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	var saved []string
	for _, r := range res.Rescues {
		if out, err := f.command("/", "sh", "-c", r.Command).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", r.Command, err, out)
		}
		saved = append(saved, strings.TrimSpace(f.git(f.repo, "rev-parse", "rescued-"+f.git(f.repo, "rev-parse", r.Ref)[:12])))
	}
	less := func(a, b string) bool { return a < b }
	if diff := cmp.Diff([]string{lost, named}, saved, cmpopts.SortSlices(less)); diff != "" {
		t.Errorf("rescued (-want +got):\n%s", diff)
	}
}

// TestOldCommitsOfOrphan does so before the first commit of a new branch.
func TestOldCommitsOfOrphan(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.git(f.ref.Path, "checkout", "-q", "--detach")
	lost := f.commit(f.ref.Path, "tracked", "detached\n")
	f.git(f.ref.Path, "checkout", "-q", "--orphan", "fresh")
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept != nil || len(res.Rescues) != 2 {
		t.Fatalf("Remove: %+v, %v, want two rescues", res, err)
	}
	if got := strings.TrimSpace(f.git(f.repo, "rev-parse", res.Rescues[1].Ref)); got != lost {
		t.Errorf("rescued %s, want %s", got, lost)
	}
}

// TestBaseGone keeps a worktree whose repository is not where it was.
func TestBaseGone(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(f *fixture){
		"moved":    func(f *fixture) { f.must(os.Rename(f.repo, filepath.Join(f.top, "away"))) },
		"gone":     func(f *fixture) { f.must(os.RemoveAll(f.repo)) },
		"replaced": func(f *fixture) { f.must(os.RemoveAll(f.repo)); f.git(f.top, "init", "-q", f.repo) },
		"linked": func(f *fixture) {
			f.must(os.Rename(f.repo, filepath.Join(f.top, "away")))
			f.must(os.Symlink(filepath.Join(f.top, "away"), f.repo))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			move(f)
			before := f.manifest(f.top, "it's a repo/.git/swarm.lock")
			got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
			if got.Err != "" || got.Result.Kept == nil || got.Result.Kept.Forceable || strings.Contains(got.Result.Kept.Reason, "\n") {
				t.Errorf("got %+v, want kept", got)
			}
			if diff := cmp.Diff(before, f.manifest(f.top, "it's a repo/.git/swarm.lock")); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

// TestWrongRef gives refs that name something else.
func TestWrongRef(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	mine := filepath.Join(f.top, "mine")
	f.git(f.repo, "worktree", "add", "-q", mine)
	before := f.manifest(f.top, "it's a repo/.git/swarm.lock")
	for name, ref := range map[string]swarm.WorkspaceRef{
		"main":      {ID: "id-w", Name: "w", Path: f.repo, Base: f.repo},
		"other id":  {ID: "id-x", Name: "w", Path: f.ref.Path, Base: f.repo},
		"no id":     {Name: "mine", Path: mine, Base: f.repo},
		"unmarked":  {ID: "id-w", Name: "mine", Path: mine, Base: f.repo},
		"below":     {ID: "id-w", Name: "w", Path: f.ref.Path + "/dir", Base: f.repo},
		"above":     {ID: "id-w", Name: "w", Path: filepath.Dir(f.ref.Path), Base: f.repo},
		"elsewhere": {ID: "id-w", Name: "w", Path: f.top, Base: f.repo},
		"base":      {ID: "id-w", Name: "w", Path: f.ref.Path, Base: f.ref.Path},
		"not clean": {ID: "id-w", Name: "w", Path: f.ref.Path + "/dir/..", Base: f.repo},
		"relative":  {ID: "id-w", Name: "w", Path: ".", Base: f.repo},
	} {
		res, err := newWorkspace().Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
		if err != nil || res.Kept == nil || res.Kept.Forceable {
			t.Errorf("%s: %+v, %v, want kept", name, res, err)
		}
	}
	if diff := cmp.Diff(before, f.manifest(f.top, "it's a repo/.git/swarm.lock")); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// TestRemoveCancelled gives up before anything is removed.
func TestRemoveCancelled(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.write(f.ref.Path, "new", "new\n")
	before := f.manifest(f.ref.Path)
	w := newWorkspace()
	ctx, cancel := context.WithCancel(t.Context())
	w.beforeRemoval = cancel
	if res, err := w.Remove(ctx, f.ref, swarm.RemoveOptions{Force: true}); err == nil {
		t.Errorf("Remove: %+v, want the context's error", res)
	}
	if diff := cmp.Diff(before, f.manifest(f.ref.Path)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if refs := f.rescueRefs(); len(refs) > 0 {
		t.Errorf("rescues left: %v", refs)
	}
}

// TestGitLooksToo writes when git has been started already. Without changes that
// were saved before, git is not to force anything.
func TestGitLooksToo(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	late := filepath.Join(f.ref.Path, "late")
	wrapper := filepath.Join(f.top, "git")
	script := `case "$*" in *"worktree remove"*) echo work > ` + git.Word(late) + `;; esac; exec git "$@"`
	f.must(f.command(f.top, "sh", "-c", `printf '#!/bin/sh\n%s\n' "$1" > git && chmod +x git`, "sh", script).Run())
	res, err := New(Config{Git: wrapper}, slog.New(slog.DiscardHandler)).Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err == nil {
		t.Errorf("Remove: %+v, want git's error", res)
	}
	if b, err := os.ReadFile(late); err != nil || string(b) != "work\n" {
		t.Errorf("what was written late: %q, %v", b, err)
	}
}

// TestPermissions removes as a user who may not do all of it.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path   string
		mode         os.FileMode
		kept, forced string
	}{
		{"unreadable directory", "new", 0, "it cannot be inspected: open …permission denied", "it cannot be inspected: open …permission denied"},
		{"unreadable file", "new/file", 0, "no permission to read 'new/file', which is not committed", "no permission to read 'new/file', which is not committed"},
		{"read-only directory", "new", 0o555, "no permission to remove the contents of …", "no permission to remove the contents of …"},
		{"read-only ignored directory", "build", 0o555, "no permission to remove the contents of …", "no permission to remove the contents of …"},
		{"read-only parent", "..", 0o555, "no permission to remove the contents of …", "no permission to remove the contents of …"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.unprivileged = true
			f.write(f.ref.Path, "new/file", "new")
			f.write(f.ref.Path, "build/out", "out")
			if c.path == "build" {
				f.must(os.RemoveAll(filepath.Join(f.ref.Path, "new")))
			}
			path := filepath.Join(f.ref.Path, c.path)
			f.must(os.Chmod(path, c.mode))
			for _, force := range []bool{false, true} {
				want := c.kept
				if force {
					want = c.forced
				}
				got := f.removeFrom("/", swarm.RemoveOptions{Force: force})
				if got.Err != "" || got.Result.Kept == nil || !matches(got.Result.Kept.Reason, want) {
					t.Errorf("force %t: %+v, error %q, want kept because %q", force, got.Result.Kept, got.Err, want)
				}
			}
			f.must(os.Chmod(path, 0o755))
			for _, file := range []string{"tracked", "build/out", ".git"} {
				if !f.exists(filepath.Join(f.ref.Path, file)) {
					t.Errorf("%s is gone", file)
				}
			}
		})
	}
}
