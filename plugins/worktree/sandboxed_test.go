package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// attack is what a worker in a sandbox leaves behind: it can write its worktree but for .git,
// the directory of the worktree in the repository but for commondir, gitdir and
// config.worktree, and the objects, the references and the logs.
type attack struct {
	// plant changes those. admin is the directory of the worktree, outside the victim's.
	plant func(f *fixture, git, admin, outside string)
	// harm is what git alone does with it, outside. Empty: nothing that a file shows.
	harm func(f *fixture, git string)
}

func link(f *fixture, to, at string) {
	f.Helper()
	f.must(os.RemoveAll(at))
	f.must(os.MkdirAll(filepath.Dir(at), 0o755))
	f.must(os.Symlink(to, at))
}

// moved takes the place of a directory by a link to a copy outside.
func moved(f *fixture, dir, to string) {
	f.Helper()
	f.must(os.MkdirAll(dir, 0o755))
	f.must(os.Rename(dir, to))
	f.must(os.Symlink(to, dir))
}

func attacks() map[string]attack {
	makeBranch := func(f *fixture, _ string) { f.git(f.repo, "branch", "next") }
	rescue := func(f *fixture, _ string) { f.git(f.repo, "update-ref", "refs/swarm/rescue/"+"w/1", "HEAD") }
	evil := func(f *fixture, dir, outside string) {
		run := "touch " + git.Word(outside+"/ran") + "; cat"
		for _, key := range []string{"core.fsmonitor", "core.alternateRefsCommand", "core.sshCommand", "filter.evil.clean", "filter.evil.smudge", "diff.external", "diff.evil.textconv", "core.pager"} {
			f.git(dir, "config", key, run)
		}
		f.git(dir, "config", "core.hooksPath", outside+"/hooks")
	}
	hook := func(f *fixture, at, outside string) {
		f.must(os.MkdirAll(filepath.Dir(at), 0o755))
		f.must(buildtest.Write(at, []byte("#!/bin/sh\ntouch "+git.Word(outside+"/ran")+"\n"), 0o755))
	}
	return map[string]attack{
		"log of a branch": {func(f *fixture, git, _, outside string) {
			link(f, outside+"/file", git+"/logs/refs/heads/next")
		}, makeBranch},
		"log that does not exist": {func(f *fixture, git, _, outside string) {
			link(f, outside+"/new", git+"/logs/refs/heads/next")
		}, makeBranch},
		"logs of branches": {func(f *fixture, git, _, outside string) {
			moved(f, git+"/logs/refs/heads", outside+"/heads")
		}, makeBranch},
		"logs of references": {func(f *fixture, git, _, outside string) {
			moved(f, git+"/logs/refs", outside+"/refs")
		}, makeBranch},
		"branches": {func(f *fixture, git, _, outside string) {
			moved(f, git+"/refs/heads", outside+"/heads")
		}, makeBranch},
		"rescues": {func(f *fixture, git, _, outside string) {
			link(f, outside, git+"/refs/swarm")
		}, rescue},
		"rescues of a worker": {func(f *fixture, git, _, outside string) {
			link(f, outside, git+"/refs/swarm/rescue/w")
		}, rescue},
		"logs of rescues": {func(f *fixture, git, _, outside string) {
			link(f, outside, git+"/logs/refs/swarm")
			f.git(f.repo, "config", "core.logAllRefUpdates", "always") // which the user may have set
		}, rescue},
		"objects": {func(f *fixture, git, _, outside string) {
			for i := range 256 {
				dir := git + "/objects/" + string("0123456789abcdef"[i/16]) + string("0123456789abcdef"[i%16])
				if !f.exists(dir) {
					link(f, outside, dir)
				}
			}
		}, func(f *fixture, _ string) {
			for _, text := range []string{"a", "b", "c", "d"} {
				f.write(f.top, "object", text)
				f.git(f.repo, "hash-object", "-w", f.top+"/object")
			}
		}},
		"packs": {func(f *fixture, git, _, outside string) { moved(f, git+"/objects/pack", outside+"/pack") }, func(f *fixture, _ string) {
			f.git(f.repo, "repack", "-aq")
		}},
		"index": {func(f *fixture, _, admin, outside string) {
			f.must(os.Rename(admin+"/index", outside+"/index"))
			link(f, outside+"/index", admin+"/index")
			f.must(os.Chtimes(f.ref.Path+"/other", time.Now(), time.Now().Add(-time.Hour)))
		}, func(f *fixture, _ string) { f.git(f.ref.Path, "diff", "HEAD") }},
		"log of HEAD": {func(f *fixture, _, admin, outside string) {
			link(f, outside+"/file", admin+"/logs/HEAD")
		}, func(f *fixture, _ string) { f.git(f.ref.Path, "commit", "-q", "--allow-empty", "-m", "harm") }},
		"HEAD":           {func(f *fixture, git, admin, _ string) { link(f, git+"/HEAD", admin+"/HEAD") }, nil},
		"lost commondir": {func(f *fixture, _, admin, outside string) { link(f, outside, admin+"/refs") }, nil},
		"packed-refs":    {func(f *fixture, _, admin, outside string) { link(f, outside+"/file", admin+"/packed-refs") }, nil},
		"locked":         {func(f *fixture, _, admin, outside string) { link(f, outside+"/file", admin+"/locked") }, nil},
		"marker":         {func(f *fixture, _, admin, outside string) { link(f, outside+"/file", admin+"/swarm-worker") }, nil},
		"config of admin": {func(f *fixture, _, admin, outside string) {
			f.write(admin, "config", "[core]\n\tfsmonitor = touch "+outside+"/ran\n\thooksPath = "+outside+"\n")
		}, nil},
		"hooks": {func(f *fixture, git, admin, outside string) {
			for _, name := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"} {
				hook(f, admin+"/hooks/"+name, outside)
				hook(f, f.ref.Path+"/hooks/"+name, outside)
			}
		}, nil},
		"attributes": {func(f *fixture, _, admin, _ string) {
			f.write(admin, "info/attributes", "* filter=evil diff=evil merge=evil\n")
			f.write(f.ref.Path, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
		}, nil},
		"alternates": {func(f *fixture, git, _, outside string) {
			f.write(git, "objects/info/alternates", outside+"\n")
			f.write(git, "objects/info/http-alternates", "ext::sh -c touch% "+outside+"/ran\n")
		}, nil},
		"modules": {func(f *fixture, _, admin, outside string) {
			f.git(f.top, "init", "-q", admin+"/modules/sub")
			dir := admin + "/modules/sub"
			f.commit(dir, ".gitattributes", "* filter=evil diff=evil\n")
			evil(f, dir, outside)
			hook(f, outside+"/hooks/reference-transaction", outside)
			entries, err := os.ReadDir(dir + "/.git")
			f.must(err)
			for _, e := range entries {
				f.must(os.Rename(dir+"/.git/"+e.Name(), dir+"/"+e.Name()))
			}
			f.must(os.Remove(dir + "/.git"))
		}, nil},
		"modules elsewhere": {func(f *fixture, _, admin, outside string) { link(f, outside, admin+"/modules") }, nil},
		"nested": {func(f *fixture, _, _, outside string) {
			nested := f.ref.Path + "/nested"
			f.git(f.top, "init", "-q", nested)
			f.commit(nested, ".gitattributes", "* filter=evil diff=evil\n")
			f.git(f.ref.Path, "add", "nested")
			evil(f, nested, outside)
			hook(f, outside+"/hooks/post-index-change", outside)
		}, nil},
	}
}

// TestAttacksOfASandbox checks that no call writes a file or runs a program outside because of
// what a worker in a sandbox left.
func TestAttacksOfASandbox(t *testing.T) {
	t.Parallel()
	for name, a := range attacks() {
		prepare := func(t *testing.T) (*fixture, string, func() string) {
			f := withWorktree(t)
			git := filepath.Join(f.repo, ".git")
			outside := filepath.Join(f.top, "outside")
			f.write(outside, "file", "the user's\n")
			f.write(outside, "next", "the user's\n")
			f.write(f.ref.Path, "tracked", "two\n")
			f.write(f.ref.Path, "new", "new\n")
			a.plant(f, git, git+"/worktrees/w", outside)
			return f, git, func() string {
				info, err := os.Stat(outside + "/file")
				f.must(err)
				return f.manifest(outside) + info.ModTime().String()
			}
		}
		if a.harm != nil {
			t.Run(name+" harms", func(t *testing.T) {
				t.Parallel()
				f, git, look := prepare(t)
				before := look()
				a.harm(f, git)
				if look() == before {
					t.Error("the attack is harmless")
				}
			})
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _, look := prepare(t)
			before := look()
			w := newWorkspace()
			check := func(what string, err error) {
				t.Helper()
				if after := look(); after != before {
					t.Errorf("%s changed a file outside; %v:\n%s", what, err, after)
					before = after
				}
			}
			_, err := w.Diff(t.Context(), f.ref, swarm.DiffOptions{Summary: true})
			check("the summary", err)
			_, err = w.Diff(t.Context(), f.ref, swarm.DiffOptions{})
			check("Diff", err)
			_, err = w.FindWorkspace(t.Context(), swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
			check("FindWorkspace", err)
			next, err := w.Create(t.Context(), swarm.WorkspaceSpec{ID: "id-next", Name: "next", Base: f.repo})
			check("Create", err)
			if err == nil {
				_, err = w.Remove(t.Context(), next, swarm.RemoveOptions{Undo: true})
				check("Remove of an unused one", err)
			}
			_, err = w.Inspect(t.Context(), f.ref, swarm.RemoveOptions{})
			check("Inspect", err)
			_, err = w.Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			check("Remove", err)
			works, err := w.Rescue(t.Context(), swarm.RescueRequest{Base: f.repo})
			check("a list of rescues", err)
			for _, work := range works {
				_, err := w.Rescue(t.Context(), swarm.RescueRequest{Base: f.repo, Ref: work.Ref, Action: swarm.RescueRestore, Into: f.top + "/restored"})
				check("a restore", err)
				_, err = w.Rescue(t.Context(), swarm.RescueRequest{Base: f.repo, Ref: work.Ref, Action: swarm.RescueDrop})
				check("a drop", err)
			}
		})
	}
}

// TestLinksAreNamed checks that a call which refuses to write through a link says which, and
// works once the user has removed it.
func TestLinksAreNamed(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	at := filepath.Join(f.repo, ".git", "logs", "refs", "heads", "next")
	link(f, f.top+"/outside", at)
	spec := swarm.WorkspaceSpec{ID: "id-next", Name: "next", Base: f.repo}
	if _, err := newWorkspace().Create(t.Context(), spec); !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), at+" is a symbolic link") {
		t.Errorf("Create: %v", err)
	}
	other := spec
	other.ID, other.Name = "id-other", "unconcerned"
	f.create(other)
	f.must(os.Remove(at))
	f.create(spec)
}

// TestReplacedMarker checks that a worker which spoils the mark of its worktree harms none but
// itself.
func TestReplacedMarker(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("/etc/passwd", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"large": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 2<<30))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			mark := filepath.Join(f.repo, ".git", "worktrees", "w", "swarm-worker")
			f.must(os.Remove(mark))
			f.must(spoil(mark))
			other := f.create(swarm.WorkspaceSpec{ID: "id-other", Name: "other", Base: f.repo})
			if _, err := newWorkspace().Diff(t.Context(), other, swarm.DiffOptions{Summary: true}); err != nil {
				t.Errorf("Diff of another: %v", err)
			}
			if res, err := newWorkspace().Remove(t.Context(), other, swarm.RemoveOptions{}); err != nil || res.Kept != nil {
				t.Errorf("Remove of another: %+v, %v", res, err)
			}
			res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept == nil || !strings.Contains(res.Kept.Reason, "was not made for this worker") {
				t.Errorf("Remove: %+v, %v", res, err)
			}
		})
	}
}

// TestSubmodulesThatNeverEnd is about FIFOs in repositories that a worker made in its worktree.
func TestSubmodulesThatNeverEnd(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		for _, name := range []string{"HEAD", "config", "included", "excluded", "attributes", "index", "refs/heads/x", "info/exclude", "logs/HEAD", "commondir"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := withWorktree(t)
				nested := filepath.Join(f.ref.Path, "nested")
				if stored {
					nested = filepath.Join(f.repo, ".git", "worktrees", "w", "modules", "nested")
				}
				f.git(f.top, "init", "-q", nested)
				f.commit(nested, "file", "one\n")
				git := nested + "/.git"
				if stored {
					f.must(os.Rename(git, nested+".git"))
					git = nested + ".git"
				} else {
					f.git(f.ref.Path, "add", "nested")
				}
				f.git(git, "config", "include.path", git+"/included")
				f.git(git, "config", "core.excludesFile", git+"/excluded")
				f.git(git, "config", "core.attributesFile", git+"/attributes")
				f.must(ignoreNotExist(os.Remove(git + "/" + name)))
				f.must(unix.Mkfifo(git+"/"+name, 0o600))
				w := newWorkspace()
				w.submoduleLimit = 3 * time.Second
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := w.Diff(ctx, f.ref, swarm.DiffOptions{}); ctx.Err() != nil {
					t.Fatalf("Diff waited: %v", err)
				}
				res, err := w.Remove(ctx, f.ref, swarm.RemoveOptions{Force: true})
				if err != nil || ctx.Err() != nil || res.Kept == nil {
					t.Errorf("Remove: %+v, %v", res, err)
				}
			})
		}
	}
}
