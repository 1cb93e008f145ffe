package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestNestedRepository is about a directory of a clone that is laid out as a
// repository and names a program in its configuration.
func TestNestedRepository(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested := filepath.Join(f.repo, "nested")
	ran := filepath.Join(f.top, "ran")
	f.git(f.top, "init", "-q", "--bare", nested)
	f.write(nested, "tree/file", "one\n")
	f.write(nested, "tree/.gitattributes", "* filter=evil\n")
	f.git(f.top, "--git-dir="+nested, "--work-tree="+nested+"/tree", "add", "--all")
	f.git(f.top, "--git-dir="+nested, "--work-tree="+nested+"/tree", "commit", "-qm", "first")
	f.git(nested, "config", "core.bare", "false")
	f.git(nested, "config", "core.worktree", nested+"/tree")
	f.git(nested, "config", "filter.evil.smudge", "touch '"+ran+"'; cat")
	f.git(nested, "config", "filter.evil.clean", "touch '"+ran+"'; cat")
	// The control: git alone runs it, for a file that is not there.
	f.must(os.Remove(nested + "/tree/file"))
	f.git(nested, "checkout", "--force", "--", "file")
	if !f.exists(ran) {
		t.Fatal("the fixture is harmless")
	}
	f.must(os.Remove(ran))

	for _, base := range []string{nested, nested + "/refs", nested + "/tree"} {
		ref, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: base})
		if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "is bare") {
			t.Errorf("Create in %s: %+v, %v", base, ref, err)
		}
	}
	ref := swarm.WorkspaceRef{ID: "id-w", Name: "w", Path: nested + "/tree", Branch: "main", Base: nested}
	if res, err := newWorkspace().Remove(t.Context(), ref, swarm.RemoveOptions{Force: true}); err != nil || res.Kept == nil {
		t.Errorf("Remove: %+v, %v", res, err)
	}
	if f.exists(ran) {
		t.Error("its filter ran")
	}
}

// TestFiltersOfASharedRepository is about programs in a configuration that others
// can write.
func TestFiltersOfASharedRepository(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		root bool
		make func(f *fixture, filter func(scope ...string)) error
		runs bool
	}{
		{name: "own", runs: true, make: func(_ *fixture, filter func(...string)) error { filter(); return nil }},
		{name: "another user's", root: true, make: func(f *fixture, filter func(...string)) error {
			filter()
			return os.Chown(filepath.Join(f.repo, ".git", "config"), stranger, stranger)
		}},
		{name: "for all to write", make: func(f *fixture, filter func(...string)) error {
			filter()
			return os.Chmod(filepath.Join(f.repo, ".git"), 0o777)
		}},
		{name: "below a directory for all to write", make: func(f *fixture, filter func(...string)) error {
			filter()
			return errors.Join(os.Mkdir(f.top+"/trees", 0o755), os.Chmod(f.repo, 0o777))
		}},
		{name: "included", make: func(f *fixture, filter func(...string)) error {
			filter("--file", f.top+"/included")
			f.git(f.repo, "config", "include.path", f.top+"/included")
			return os.Chmod(filepath.Join(f.repo, ".git"), 0o777)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			f := newFixture(t)
			ran := filepath.Join(f.top, "ran")
			f.commit(f.repo, "filtered", "one\n")
			f.commit(f.repo, ".gitattributes", "filtered filter=a=b.c\n")
			f.must(tt.make(f, func(scope ...string) {
				for _, verb := range []string{"smudge", "clean"} {
					f.git(f.repo, append(append([]string{"config"}, scope...), "filter.a=b.c."+verb, "touch '"+ran+"'; cat")...)
				}
				f.git(f.repo, append(append([]string{"config"}, scope...), "filter.a=b.c.required", "true")...)
			}))
			ref, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo, Parent: f.top + "/trees"})
			f.must(err)
			if got := f.exists(ran); got != tt.runs {
				t.Errorf("Create ran the smudge filter: %t, want %t", got, tt.runs)
			}
			_ = os.Remove(ran)
			f.write(ref.Path, "filtered", "two\n")
			res, err := newWorkspace().Remove(t.Context(), ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept != nil || len(res.Rescues) != 1 {
				t.Errorf("Remove: %+v, %v", res, err)
			}
			if got := f.exists(ran); got != tt.runs {
				t.Errorf("Remove ran the clean filter: %t, want %t", got, tt.runs)
			}
		})
	}
}

// TestFilterOfASharedWorktree is as TestFiltersOfASharedRepository, for the
// configuration that a single worktree has.
func TestFilterOfASharedWorktree(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		f := newFixture(t)
		f.git(f.repo, "config", "extensions.worktreeConfig", "true")
		f.commit(f.repo, ".gitattributes", "tracked filter=evil\n")
		f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
		ran := filepath.Join(f.top, "ran")
		f.git(f.ref.Path, "config", "--worktree", "filter.evil.clean", "touch '"+ran+"'; cat")
		f.write(f.ref.Path, "tracked", "two\n")
		if shared {
			f.must(os.Chmod(filepath.Join(f.repo, ".git", "worktrees", "w"), 0o777))
		}
		res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
		if err != nil || res.Kept != nil || len(res.Rescues) != 1 {
			t.Errorf("Remove: %+v, %v", res, err)
		}
		if got := f.exists(ran); got == shared {
			t.Errorf("shared: %t, ran: %t", shared, got)
		}
	}
}

// TestProgramsOfANestedRepository is about a repository that the worker made in its worktree
// and staged: git looks into it, and its configuration is the worker's alone.
func TestProgramsOfANestedRepository(t *testing.T) {
	t.Parallel()
	for name, stage := range map[string]func(f *fixture, wt string){
		"staged":    func(f *fixture, wt string) { f.git(wt, "add", "nested") },
		"committed": func(f *fixture, wt string) { f.git(wt, "add", "nested"); f.git(wt, "commit", "-qm", "nested") },
		"set not to ignore it": func(f *fixture, wt string) {
			f.write(wt, ".gitmodules", "[submodule \"nested\"]\n\tpath = nested\n\turl = ./nested\n\tignore = none\n")
			f.git(wt, "add", ".gitmodules", "nested")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			nested := filepath.Join(f.ref.Path, "nested")
			f.git(f.top, "init", "-q", nested)
			f.commit(nested, ".gitattributes", "* filter=evil\n")
			f.commit(nested, "file", "one\n")
			stage(f, f.ref.Path)
			ran := filepath.Join(f.top, "ran")
			evil := "touch " + git.Word(ran) + "; cat"
			for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge"} {
				f.git(nested, "config", key, evil)
			}
			pushed := func() { f.git(nested, "update-ref", "refs/remotes/origin/main", "HEAD") }
			for _, next := range []func(){func() { f.write(nested, "file", "two\n") }, func() { f.write(nested, "file", "one\n") }, pushed} {
				next()
				for _, force := range []bool{false, true} {
					if _, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{}); err != nil {
						t.Error(err)
					}
					res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: force})
					if err != nil {
						t.Fatal(err)
					}
					if f.exists(ran) {
						t.Fatalf("a program of the nested repository ran; %+v", res)
					}
					if res.Kept == nil {
						return
					}
				}
			}
			t.Error("a pushed repository is kept")
		})
	}
}

// TestSafeDirectory is about git's own check, which GIT_DIR turns off. It is not
// parallel: the other tests allow all directories.
func TestSafeDirectory(t *testing.T) {
	machinetest.Root(t)
	config := filepath.Join(t.TempDir(), "gittest.Config")
	text := strings.ReplaceAll(gittest.Config, "[safe]\n\tdirectory = *\n", "")
	if text == gittest.Config || os.WriteFile(config, []byte(text), 0o644) != nil {
		t.Fatal("the configuration can't be written")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	f := withWorktree(t)
	f.must(f.command("/", "chown", "-R", "4242", f.ref.Path).Run())
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept == nil || !strings.Contains(res.Kept.Reason, "dubious ownership") {
		t.Errorf("Remove of another user's worktree: %+v, %v", res, err)
	}
	f.must(f.command("/", "chown", "-R", "4242", f.repo).Run())
	if _, err := newWorkspace().Create(t.Context(), swarm.WorkspaceSpec{ID: "id-v", Name: "v", Base: f.repo}); err == nil || !strings.Contains(err.Error(), "dubious ownership") {
		t.Errorf("Create in another user's repository: %v", err)
	}
}

// TestFilesThatNeverEnd is about FIFOs and files of any size where git or the plugin
// reads. Each call has to come back by itself.
func TestFilesThatNeverEnd(t *testing.T) {
	t.Parallel()
	fifo := func(path string) error {
		return errors.Join(ignoreNotExist(os.Remove(path)), os.MkdirAll(filepath.Dir(path), 0o755), unix.Mkfifo(path, 0o600))
	}
	sparse := func(path string) error {
		return errors.Join(ignoreNotExist(os.Remove(path)), os.WriteFile(path, nil, 0o600), os.Truncate(path, 2<<30))
	}
	device := func(path string) error {
		return errors.Join(ignoreNotExist(os.Remove(path)), os.Symlink("/dev/zero", path))
	}
	for _, path := range []string{
		"git/HEAD", "git/config", "git/config.worktree", "git/commondir", "git/packed-refs", "git/info/attributes", "git/info/exclude",
		"git/refs/heads/main", "git/refs/heads/w", "git/logs/refs/heads/w", "git/objects/info/alternates", "git/swarm.lock",
		"git/worktrees/w/gitdir", "git/worktrees/w/HEAD", "git/worktrees/w/commondir", "git/worktrees/w/index", "git/worktrees/w/logs/HEAD",
		"git/worktrees/w/swarm-worker", "git/worktrees/w/swarm-above", "git/worktrees/w/locked",
		"tree/.git", "tree/.gitignore", "tree/.gitattributes", "tree/dir/.gitignore", "tree/.gitmodules", "main/.mailmap", "main/.gitignore",
	} {
		for what, make := range map[string]func(string) error{"FIFO": fifo, "sparse": sparse, "device": device} {
			if what != "FIFO" && !strings.HasSuffix(path, "HEAD") && !strings.HasSuffix(path, "config") && !strings.HasSuffix(path, "swarm-worker") {
				continue
			}
			t.Run(what+" "+path, func(t *testing.T) {
				t.Parallel()
				f := withWorktree(t)
				at, name, _ := strings.Cut(path, "/")
				dir := map[string]string{"git": filepath.Join(f.repo, ".git"), "tree": f.ref.Path, "main": f.repo}[at]
				f.must(make(filepath.Join(dir, name)))
				// Not a limit that a loaded machine can reach, but less than the test's.
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := newWorkspace().Remove(ctx, f.ref, swarm.RemoveOptions{Force: true})
				if errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Remove: %v", err)
				}
				if _, err := newWorkspace().Create(ctx, swarm.WorkspaceSpec{ID: "id-v", Name: "v", Base: f.repo}); errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Create: %v", err)
				}
				if err := ctx.Err(); err != nil {
					t.Error("a call waited")
				}
			})
		}
	}
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
