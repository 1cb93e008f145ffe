package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestLinksPlantedMeanwhile is about a worker in a sandbox that puts links between a look at
// a repository and git's write: the test does so before each git that writes. Such a worker
// need not be the one whose worktree it is: all workers of a repository share its objects,
// references and logs.
func TestLinksPlantedMeanwhile(t *testing.T) {
	t.Parallel()
	machinetest.Landlock(t)
	type race struct {
		// verb is the command of git before which the link is put.
		verb  string
		plant func(f *fixture, git, outside string)
		run   func(f *fixture, w *Workspace) error
	}
	create := func(f *fixture, w *Workspace) error {
		_, err := w.Create(f.Context(), swarm.WorkspaceSpec{ID: "id-next", Name: "next", Base: f.repo})
		return err
	}
	remove := func(f *fixture, w *Workspace) error {
		_, err := w.Remove(f.Context(), f.ref, swarm.RemoveOptions{Force: true})
		return err
	}
	diff := func(f *fixture, w *Workspace) error {
		_, err := w.Diff(f.Context(), f.ref, swarm.DiffOptions{})
		return err
	}
	objects := func(f *fixture, git, outside string) {
		for i := range 256 {
			// An existing directory is moved outside: the new object may belong into it.
			name := fmt.Sprintf("/%02x", i)
			dir, to := git+"/objects"+name, outside
			if f.exists(dir) {
				to += name
				if err := os.Rename(dir, to); err != nil {
					f.Fatal(err)
				}
			}
			link(f, to, dir)
		}
	}
	undo := func(f *fixture, w *Workspace) error {
		ref := f.create(swarm.WorkspaceSpec{ID: "id-next", Name: "next", Base: f.repo})
		_, err := w.Remove(f.Context(), ref, swarm.RemoveOptions{Undo: true})
		return err
	}
	races := map[string]race{
		"log of a new branch": {"update-ref", func(f *fixture, git, outside string) {
			link(f, outside+"/file", git+"/logs/refs/heads/next")
		}, create},
		"log that does not exist": {"update-ref", func(f *fixture, git, outside string) {
			link(f, outside+"/absent", git+"/logs/refs/heads/next")
		}, create},
		"branches": {"update-ref", func(f *fixture, git, outside string) {
			moved(f, git+"/refs/heads", outside+"/heads")
		}, create},
		"a rescue": {"update-ref", func(f *fixture, git, outside string) { link(f, outside, git+"/refs/swarm") }, remove},
		"the log of a branch that goes": {"update-ref", func(f *fixture, git, outside string) {
			f.must(os.Rename(git+"/logs/refs/heads/next", outside+"/logs/next"))
			f.must(os.RemoveAll(git + "/logs/refs/heads"))
			link(f, outside+"/logs", git+"/logs/refs/heads")
		}, undo},
		"files of a difference": {"update-index", objects, diff},
		"tree of a difference":  {"write-tree", objects, diff},
		"files of a rescue":     {"update-index", objects, remove},
		"index of a rescue":     {"hash-object", objects, remove},
		"tree of a rescue":      {"mktree", objects, remove},
		"commit of a rescue":    {"commit-tree", objects, remove},
	}
	for name, r := range races {
		for _, confined := range []bool{true, false} {
			what := name
			if !confined {
				what += " harms without the limit"
			}
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				f := withWorktree(t)
				git, outside := filepath.Join(f.repo, ".git"), filepath.Join(f.top, "outside")
				f.write(outside, "file", "the user's\n")
				f.write(outside+"/logs", "other", "the user's\n")
				f.write(f.ref.Path, "tracked", "two\n")
				f.write(f.ref.Path, "new", "new\n")
				w := newWorkspace()
				w.git.Unconfined = !confined
				var before string
				var made []string
				w.git.Before = func(args []string) {
					adds := args[0] != "update-index" || slices.Contains(args, "--add")
					if before == "" && args[0] == r.verb && adds {
						r.plant(f, git, outside)
						before = f.manifest(outside)
					}
					made = append(made, strings.Join(args, " "))
				}
				err := r.run(f, w)
				if before == "" {
					t.Fatalf("git %s was not called: %v\n%s", r.verb, err, strings.Join(made, "\n"))
				}
				after := f.manifest(outside)
				if confined && after != before {
					t.Errorf("git wrote through a link; %v: before\n%s\nafter\n%s", err, before, after)
				}
				if !confined && after == before {
					t.Errorf("the link is harmless: %v", err)
				}
			})
		}
	}
}

// TestFiltersWrite checks that a filter of the user's may write where it likes.
func TestFiltersWrite(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	at := f.top + "/filtered"
	f.git(f.repo, "config", "filter.mine.clean", "tee -a "+git.Word(at))
	f.write(f.ref.Path, ".gitattributes", "new filter=mine\n")
	f.write(f.ref.Path, "new", "text\n")
	res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept != nil || len(res.Rescues) != 1 {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	if !f.exists(at) {
		t.Error("the filter did not run")
	}
}

// TestDirectoryReplacedMeanwhile is about another worker that may write to a worktree which
// git removes: it puts a link in the place of a directory, again and again. The test can't
// make git meet the link, but nothing outside may change if it does.
func TestDirectoryReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	machinetest.Landlock(t)
	f := withWorktree(t)
	outside := filepath.Join(f.top, "outside")
	for i := range 200 {
		name := "file" + strconv.Itoa(i)
		f.write(outside, name, "the user's\n")
		f.write(f.ref.Path+"/dir", name, "two\n")
	}
	before := f.manifest(outside)
	over, done := make(chan struct{}), make(chan struct{})
	w := newWorkspace()
	w.git.Before = func(args []string) {
		if args[0] != "worktree" || args[1] != "remove" {
			return
		}
		go func() {
			defer close(done)
			dir, aside := f.ref.Path+"/dir", f.top+"/aside"
			for {
				select {
				case <-over:
					return
				default:
				}
				_ = os.Rename(dir, aside)
				_ = os.Symlink(outside, dir)
				_ = os.Remove(dir)
				_ = os.Rename(aside, dir)
			}
		}()
	}
	res, err := w.Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	close(over)
	if res.Kept != nil || len(res.Rescues) == 0 {
		t.Fatalf("Remove: %+v, %v", res, err)
	}
	<-done
	if after := f.manifest(outside); after != before {
		t.Errorf("git removed files through a link; %v: before\n%s\nafter\n%s", err, before, after)
	}
}
