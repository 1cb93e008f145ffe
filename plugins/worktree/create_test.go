package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git(f.repo, "branch", "existing")
	linked := filepath.Join(f.top, "linked")
	f.git(f.repo, "worktree", "add", "-q", linked)
	ahead := f.commit(linked, "tracked", "ahead\n")
	f.must(os.Symlink(f.repo, filepath.Join(f.top, "alias")))
	f.must(os.Symlink(f.top, filepath.Join(f.top, "up")))
	f.must(os.MkdirAll(filepath.Join(f.top, "it's a repo-worktrees/empty"), 0o755))
	first := strings.TrimSpace(f.git(f.repo, "rev-parse", "HEAD"))

	for _, c := range []struct {
		spec               swarm.WorkspaceSpec
		path, branch, head string
	}{
		{swarm.WorkspaceSpec{Name: "plain", Base: f.repo}, "it's a repo-worktrees/plain", "plain", first},
		{swarm.WorkspaceSpec{Name: "below", Base: f.repo + "/dir"}, "it's a repo-worktrees/below", "below", first},
		{swarm.WorkspaceSpec{Name: "inside", Base: f.repo + "/.git"}, "it's a repo-worktrees/inside", "inside", first},
		{swarm.WorkspaceSpec{Name: "v1.2", Base: f.repo}, "it's a repo-worktrees/v1.2", "v1.2", first},
		{swarm.WorkspaceSpec{Name: "branch", Base: f.repo, Branch: "topic/x"}, "it's a repo-worktrees/branch", "topic/x", first},
		{swarm.WorkspaceSpec{Name: "used", Base: f.repo, Branch: "existing"}, "it's a repo-worktrees/used", "existing", first},
		{swarm.WorkspaceSpec{Name: "linked-off", Base: linked + "/dir"}, "it's a repo-worktrees/linked-off", "linked-off", ahead},
		{swarm.WorkspaceSpec{Name: "alias", Base: f.top + "/alias/dir"}, "it's a repo-worktrees/alias", "alias", first},
		{swarm.WorkspaceSpec{Name: "relative", Base: f.repo, Parent: "a/b"}, "a/b/relative", "relative", first},
		{swarm.WorkspaceSpec{Name: "absolute", Base: f.repo, Parent: f.top + "/up/c"}, "c/absolute", "absolute", first},
		{swarm.WorkspaceSpec{Name: "empty", Base: f.repo}, "it's a repo-worktrees/empty", "empty", first},
	} {
		c.spec.ID = "id-" + c.spec.Name
		ref := f.create(c.spec)
		want := swarm.WorkspaceRef{ID: c.spec.ID, Name: c.spec.Name, Path: filepath.Join(f.top, c.path), Branch: c.branch, Base: f.repo}
		if filepath.Base(c.spec.Base) == "dir" {
			want.Dir = "dir"
		}
		if diff := cmp.Diff(want, ref); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.spec.Name, diff)
			continue
		}
		if got := strings.TrimSpace(f.git(ref.Path, "rev-parse", "HEAD")); got != c.head {
			t.Errorf("%s: HEAD is %s, want %s", c.spec.Name, got, c.head)
		}
		if got := f.git(ref.Path, "status", "--porcelain"); got != "" {
			t.Errorf("%s: status is %q", c.spec.Name, got)
		}
		found, err := newWorkspace().FindWorkspace(t.Context(), c.spec)
		if diff := cmp.Diff(ref, found); err != nil || diff != "" {
			t.Errorf("FindWorkspace(%s): %v (-want +got):\n%s", c.spec.Name, err, diff)
		}
	}
	if _, err := newWorkspace().FindWorkspace(t.Context(), swarm.WorkspaceSpec{ID: "id-none", Name: "plain", Base: f.repo}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("FindWorkspace of another id: %v, want ErrNotFound", err)
	}
	if _, err := newWorkspace().FindWorkspace(t.Context(), swarm.WorkspaceSpec{ID: "id-plain", Name: "plain", Base: "/"}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("FindWorkspace outside of a repository: %v, want ErrNotFound", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git(f.repo, "checkout", "-q", "-b", "a")
	f.git(f.repo, "checkout", "-q", "main") // @{-1} is a
	bare := filepath.Join(f.top, "bare.git")
	f.git(f.top, "init", "-q", "--bare", bare)
	unborn := filepath.Join(f.top, "unborn")
	f.git(f.top, "init", "-q", unborn)
	f.write(f.top, "it's a repo-worktrees/taken/file", "mine")
	f.write(f.top, "file", "mine")
	f.must(os.Symlink(f.top, filepath.Join(f.top, "it's a repo-worktrees/link")))
	stale := filepath.Join(f.top, "it's a repo-worktrees/stale")
	f.git(f.repo, "worktree", "add", "-q", "--detach", stale)
	f.must(os.RemoveAll(stale))
	f.must(os.MkdirAll(filepath.Join(f.top, "damaged/.git"), 0o755))

	for _, c := range []struct {
		spec swarm.WorkspaceSpec
		want string
	}{
		{swarm.WorkspaceSpec{Name: "n", Base: f.top}, "not in a git repository (required for --worktree)"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.top + "/none"}, "no directory …"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.top + "/file"}, "…is not a directory"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.top + "/damaged"}, "cannot use the git repository …"},
		{swarm.WorkspaceSpec{Name: "n", Base: bare}, "repository …has no commit yet, and a worktree needs one"},
		{swarm.WorkspaceSpec{Name: "n", Base: unborn}, "repository …has no commit yet, and a worktree needs one"},
		{swarm.WorkspaceSpec{Name: "../n", Base: f.repo}, "a worktree needs …"},
		{swarm.WorkspaceSpec{Name: "n", Base: "relative"}, "a worktree needs …"},
		{swarm.WorkspaceSpec{Name: "n..n", Base: f.repo}, "'n..n' is not a valid branch name"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Branch: "-d"}, "'-d' is not a valid branch name"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Branch: "@{-1}"}, "'@{-1}' is not a valid branch name"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Branch: "HEAD"}, "'HEAD' is not a valid branch name"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Branch: "main"}, "branch 'main' is already checked out at …"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Branch: "a/b"}, "cannot make branch 'a/b': …"},
		{swarm.WorkspaceSpec{Name: "taken", Base: f.repo}, "…already exists"},
		{swarm.WorkspaceSpec{Name: "link", Base: f.repo}, "…already exists"},
		{swarm.WorkspaceSpec{Name: "stale", Base: f.repo}, "git still lists a worktree at …"},
		{swarm.WorkspaceSpec{Name: "n", Base: f.repo, Parent: f.top + "/file/x"}, "cannot make …"},
	} {
		c.spec.ID = "id"
		before := f.everywhere()
		_, err := newWorkspace().Create(t.Context(), c.spec)
		if !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("Create(%+v): %v, want ErrInvalidSpec", c.spec, err)
		} else if got := strings.TrimPrefix(err.Error(), "invalid request: "); !matches(got, c.want) {
			t.Errorf("Create(%+v): %q, want %q", c.spec, got, c.want)
		}
		if diff := cmp.Diff(before, f.everywhere()); diff != "" {
			t.Errorf("Create(%+v) left (-before +after):\n%s", c.spec, diff)
		}
	}
}

// everywhere describes all files and directories of the test but the lock.
func (f *fixture) everywhere() []string {
	f.Helper()
	out := []string{f.manifest(f.top, "it's a repo/.git/swarm.lock", "unborn/.git/swarm.lock", "bare.git/swarm.lock"), f.refs()}
	return append(out, f.directories())
}

func (f *fixture) directories() string {
	f.Helper()
	out, err := f.command(f.top, "find", ".", "-type", "d", "-not", "-path", "*/.git/objects/*", "-not", "-path", "*/.git/logs/*").Output()
	f.must(err)
	return string(out)
}

// TestCreateAtOnce makes 20 worktrees in one repository at the same time.
func TestCreateAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 10
	var group sync.WaitGroup
	refs, errs := make([]swarm.WorkspaceRef, n), make([]error, n)
	for i := range n {
		group.Go(func() {
			name := fmt.Sprintf("w%d", i)
			refs[i], errs[i] = newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-" + name, Name: name, Base: f.repo})
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(f.git(f.repo, "worktree", "list", "--porcelain"), "worktree "); got != n+1 {
		t.Errorf("git lists %d worktrees, want %d", got, n+1)
	}
	for i := range n {
		group.Go(func() {
			res, err := newWorkspace().Remove(t.Context(), refs[i], swarm.RemoveOptions{})
			if res.Kept != nil {
				err = errors.New(res.Kept.Reason)
			}
			errs[i] = err
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(f.git(f.repo, "worktree", "list", "--porcelain"), "worktree "); got != 1 {
		t.Errorf("git lists %d worktrees, want 1", got)
	}
}

// TestCreateCancelled gives up at many moments. Either the worktree is whole, or
// nothing of it is there.
func TestCreateCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 300 {
		f.write(f.repo, fmt.Sprintf("many/%d", i), strings.Repeat("x", i))
	}
	f.git(f.repo, "add", "--all")
	f.git(f.repo, "commit", "-qm", "many")
	before := f.everywhere()
	cancelled := 0
	// In larger steps where git is slow: the time is the square of their number.
	for d := time.Duration(0); ; d += max(4*time.Millisecond, d/8) {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		_, err := newWorkspace().Create(ctx, swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.repo})
		cancel()
		if err == nil {
			break
		}
		cancelled++
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after %v: %v, want the context's error", d, err)
		}
		if diff := cmp.Diff(before, f.everywhere()); diff != "" {
			t.Fatalf("after %v left (-before +after):\n%s", d, diff)
		}
	}
	if cancelled < 5 {
		t.Errorf("only %d were cancelled", cancelled)
	}
}

// TestCreateFails breaks the last step.
func TestCreateFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.repo, ".gitattributes", "* filter=broken\n")
	f.git(f.repo, "add", "--all")
	f.git(f.repo, "commit", "-qm", "filter")
	f.git(f.repo, "config", "filter.broken.smudge", "false")
	f.git(f.repo, "config", "filter.broken.required", "true")
	before := f.everywhere()
	if ref, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.repo}); err == nil {
		t.Fatalf("Create: %+v, want an error", ref)
	}
	if diff := cmp.Diff(before, f.everywhere()); diff != "" {
		t.Errorf("left (-before +after):\n%s", diff)
	}
}

// TestCheckOutLocksNoRef locks the branch while the files are written: a git that took
// the lock itself could leave it behind when it is ended, and the branch with it.
func TestCheckOutLocksNoRef(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.repo, ".gitattributes", "* filter=lock\n")
	f.git(f.repo, "add", "--all")
	f.git(f.repo, "commit", "-qm", "filter")
	lock := filepath.Join(f.repo, ".git/refs/heads/w.lock")
	f.git(f.repo, "config", "filter.lock.smudge", "touch "+git.Word(lock)+" && cat")
	if _, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id", Name: "w", Base: f.repo}); err != nil {
		t.Fatal(err)
	}
	f.must(os.Remove(lock))
}

// TestNoHooks proves that no program of the repository runs.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	trace := filepath.Join(f.top, "trace")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "fsmonitor"} {
		path := filepath.Join(f.repo, ".git/hooks", hook)
		f.write(f.repo, ".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >> "+git.Word(trace)+"\n")
		f.must(os.Chmod(path, 0o755))
	}
	f.git(f.repo, "config", "core.fsmonitor", git.Word(filepath.Join(f.repo, ".git/hooks/fsmonitor")))
	f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
	f.write(f.ref.Path, "new", "new")
	if res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept != nil {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	if out, err := os.ReadFile(trace); err == nil {
		t.Errorf("hooks ran:\n%s", out)
	}
}

// TestCreateAgain uses the path of an earlier worktree whose directory is gone.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.must(os.RemoveAll(f.ref.Path))
	again := f.create(swarm.WorkspaceSpec{ID: "id-2", Name: "w", Base: f.repo})
	if again.Path != f.ref.Path || again.Branch != "w" {
		t.Errorf("made %+v, want it at %s", again, f.ref.Path)
	}
	// The old worker's ref is not the new worker's.
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept == nil || res.Kept.Forceable {
		t.Errorf("Remove of the old ref: %+v, %v, want kept", res, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := newWorkspace().Check(t.Context()); err != nil {
		t.Error(err)
	}
	f := newFixture(t)
	old := filepath.Join(f.top, "git")
	// Not written by this process: one that it starts meanwhile would keep the
	// file open, and then it can't be run.
	f.must(f.command(f.top, "sh", "-c", `printf '#!/bin/sh\necho git version 2.20.1\n' > git && chmod +x git`).Run())
	for bin, want := range map[string]string{"/nonexistent/git": "not installed", old: "too old"} {
		err := New(Config{Git: bin}, nil).Check(t.Context())
		if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("Check with %s: %v, want ErrUnavailable, %s", bin, err, want)
		}
	}
}

// TestFindHalfMade is what recovery finds when Create was killed in the middle.
func TestFindHalfMade(t *testing.T) {
	t.Parallel()
	spec := swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: ""}
	for name, c := range map[string]struct {
		damage  func(f *fixture)
		rescues int
	}{
		"no files": {func(f *fixture) {
			f.must(f.command(f.ref.Path, "sh", "-c", "rm -r * .gitignore").Run())
			f.must(os.Remove(filepath.Join(f.admin(), "index")))
		}, 1},
		"all files": {func(*fixture) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.must(os.Remove(filepath.Join(f.admin(), "swarm-made")))
			c.damage(f)
			spec := spec
			spec.Base = f.repo
			if ref, err := newWorkspace().FindWorkspace(t.Context(), spec); !errors.Is(err, swarm.ErrNotFound) {
				t.Errorf("FindWorkspace: %+v, %v, want ErrNotFound", ref, err)
			}
			if f.exists(f.ref.Path) {
				t.Error("it is still there")
			}
			if refs := f.rescueRefs(); len(refs) != c.rescues {
				t.Errorf("rescues %v, want %d", refs, c.rescues)
			}
			if diff := cmp.Diff(f.ref, f.create(spec)); diff != "" {
				t.Errorf("made again (-want +got):\n%s", diff)
			}
		})
	}
}
