package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// everything has all kinds of changes at once, and names that need care.
func everything(f *fixture, wt string) {
	f.write(wt, "tracked", "staged\n")
	f.git(wt, "add", "tracked")
	f.write(wt, "tracked", "unstaged\n")
	f.must(os.Remove(filepath.Join(wt, "other")))
	f.must(os.Chmod(filepath.Join(wt, "run.sh"), 0o755))
	f.must(os.Remove(filepath.Join(wt, "link")))
	f.must(os.Symlink("no\nsuch file", filepath.Join(wt, "link")))
	// A file takes the place of a directory, and a directory that of a file.
	f.must(os.RemoveAll(filepath.Join(wt, "dir")))
	f.must(os.Symlink("/etc", filepath.Join(wt, "dir")))
	f.write(wt, "gone", "staged and gone\n")
	f.git(wt, "add", "gone")
	f.must(os.Remove(filepath.Join(wt, "gone")))
	f.write(wt, "intended", "to add\n")
	f.git(wt, "add", "--intent-to-add", "intended")
	f.write(wt, "new\nline", "n")
	f.write(wt, " space 'quote\" $x", "s")
	f.write(wt, "-rf", "dash")
	f.write(wt, "ünï/côdé", "u")
	f.write(wt, "binary", "\x00\xff\x80\r\n")
	f.write(wt, "empty", "")
	f.must(os.MkdirAll(filepath.Join(wt, "emptydir"), 0o755))
	f.write(wt, ".env", "ignored\n")
}

func (f *fixture) admin() string {
	f.Helper()
	return strings.TrimSpace(f.git(f.ref.Path, "rev-parse", "--absolute-git-dir"))
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("waited too long")
		}
	}
}

// directories are those from which a worktree is removed.
var directories = []string{"worktree", "repository", "elsewhere"}

// TestStates removes a worktree in each state, without and with Force, each from another
// directory. Every third state has the same two directories, and a few have all six
// combinations.
func TestStates(t *testing.T) {
	t.Parallel()
	for i, s := range states {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var kept *fixture
			for j, force := range []bool{false, true} {
				want := s.kept
				if force {
					want = s.forced
				}
				from := directories
				if !s.everywhere {
					from = directories[(i+j)%len(directories):][:1]
				}
				for _, from := range from {
					if want == "" {
						s.checkRemoved(t, force, from)
						continue
					}
					// A removal that keeps the worktree changes nothing: so the next one
					// has the same state before it.
					if kept == nil {
						kept = withWorktree(t)
						s.make(kept, kept.ref.Path)
					}
					s.checkKept(kept, force, from, want)
				}
			}
		})
	}
}

// directory returns a working directory for a removal.
func (f *fixture) directory(from string) string {
	dir := map[string]string{"worktree": f.ref.Path, "repository": f.repo, "elsewhere": "/"}[from]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "/" // moved away
	}
	return dir
}

func (s state) checkKept(f *fixture, force bool, from, want string) {
	f.Helper()
	whole, refs := f.manifest(f.top, "it's a repo/.git/swarm.lock"), f.git(f.repo, "for-each-ref")
	got := f.removeFrom(f.directory(from), swarm.RemoveOptions{Force: force})
	kept := got.Result.Kept
	if got.Err != "" || kept == nil || !matches(kept.Reason, want) || kept.Forceable != s.forceable() {
		f.Errorf("force %t, from %s: %+v, error %q; want kept because %q, forceable %t", force, from, kept, got.Err, want, s.forceable())
	}
	if diff := cmp.Diff(whole, f.manifest(f.top, "it's a repo/.git/swarm.lock")); diff != "" {
		f.Fatalf("force %t, from %s: files (-before +after):\n%s", force, from, diff)
	}
	if diff := cmp.Diff(refs, f.git(f.repo, "for-each-ref")); diff != "" {
		f.Errorf("force %t, from %s: refs (-before +after):\n%s", force, from, diff)
	}
}

func (s state) checkRemoved(t *testing.T, force bool, from string) {
	f := withWorktree(t)
	wt := f.ref.Path
	s.make(f, wt)
	files, refs := f.manifest(f.repo, ".git"), f.refs()
	got := f.removeFrom(f.directory(from), swarm.RemoveOptions{Force: force})
	if got.Err != "" || got.Result.Kept != nil {
		t.Fatalf("force %t, from %s: kept %+v, error %q", force, from, got.Result.Kept, got.Err)
	}
	if f.exists(wt) || strings.Contains(f.git(f.repo, "worktree", "list"), wt) {
		t.Errorf("force %t, from %s: the worktree is still there", force, from)
	}
	if diff := cmp.Diff(files, f.manifest(f.repo, ".git")); diff != "" {
		t.Errorf("force %t, from %s: the repository's own files (-before +after):\n%s", force, from, diff)
	}
	if diff := cmp.Diff(refs, f.refs()); diff != "" {
		t.Errorf("force %t, from %s: refs (-before +after):\n%s", force, from, diff)
	}
	if len(got.Result.Rescues) != s.rescues || len(f.rescueRefs()) != s.rescues {
		t.Errorf("force %t, from %s: rescues %+v, refs %v, want %d", force, from, got.Result.Rescues, f.rescueRefs(), s.rescues)
	}
	for _, r := range got.Result.Rescues {
		if strings.Contains(r.Command, "\n") || !strings.Contains(r.Command, r.Ref) {
			t.Errorf("force %t, from %s: command of %s: %q", force, from, r.Ref, r.Command)
		}
	}
}

// matches compares a reason with a pattern, in which … stands for anything.
func matches(got, want string) bool {
	before, after, open := strings.Cut(want, "…")
	return got == want || open && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// TestRescue runs the commands that Remove returned, and compares byte for byte.
func TestRescue(t *testing.T) {
	t.Parallel()
	testRescue(t, true, func(f *fixture, rescues []swarm.Rescue) {
		for _, r := range rescues {
			if out, err := f.command("/", "sh", "-c", r.Command).CombinedOutput(); err != nil {
				f.Fatalf("%s: %v\n%s", r.Command, err, out)
			}
		}
	})
}

// TestRestore has the plugin restore what Remove saved, and compares byte for byte.
func TestRestore(t *testing.T) {
	t.Parallel()
	testRescue(t, false, func(f *fixture, rescues []swarm.Rescue) {
		refs := f.git(f.repo, "for-each-ref")
		for i, r := range rescues {
			req := swarm.RescueRequest{Base: f.repo, Ref: r.Ref, Action: swarm.RescueRestore}
			want := f.ref.Path
			if i > 0 {
				req.Into = filepath.Join(f.top, fmt.Sprint("restored", i))
				want = req.Into
			}
			works, err := newWorkspace().Rescue(f.Context(), req)
			if err != nil || len(works) != 1 || works[0].Path != want || works[0].Name != "w" || works[0].Note != "" {
				f.Fatalf("restore %s: %+v, %v", r.Ref, works, err)
			}
		}
		if diff := cmp.Diff(refs, f.git(f.repo, "for-each-ref")); diff != "" {
			f.Errorf("refs (-before +after):\n%s", diff)
		}
	})
}

// testRescue removes a worktree in each state of which something is saved, and compares it
// with what restore makes. detaches says that restore leaves some without their branch.
func testRescue(t *testing.T, detaches bool, restore func(*fixture, []swarm.Rescue)) {
	for _, s := range states {
		if s.rescues == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			wt := f.ref.Path
			s.make(f, wt)
			look := func() []string {
				return []string{
					f.manifest(wt, ".git", "build"),
					f.git(wt, "status", "--porcelain=v2", "--branch", "-uall", "--ignored"),
					f.git(wt, "ls-files", "--stage"),
					f.git(wt, "diff", "--cached", "--binary"),
					// All that the index refers to is there.
					f.git(wt, "fsck", "--no-dangling", "--no-progress"),
				}
			}
			before := look()
			if detaches && s.detaches {
				before[1] = strings.Replace(before[1], "branch.head w", "branch.head (detached)", 1)
			}
			res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept != nil || len(res.Rescues) != s.rescues {
				t.Fatalf("Remove: %+v, %v", res, err)
			}
			// A rescue outlives any clean-up of git's.
			f.git(f.repo, "reflog", "expire", "--expire=now", "--all")
			f.git(f.repo, "gc", "--quiet", "--prune=now")
			restore(f, res.Rescues)
			if diff := cmp.Diff(before, look()); diff != "" {
				t.Errorf("worktree (-before +after):\n%s", diff)
			}
		})
	}
}
