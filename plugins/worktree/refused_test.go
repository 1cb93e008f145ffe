package worktree

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// refusedNames are files that git's index refuses, by their names.
var refusedNames = []string{
	".GIT/notes", "a/.Git/notes", "dir/.gIT", "b/GIT~1/notes", "c/git~1", ".git /notes", ".git./notes", ".git...", "d/.git::$INDEX_ALLOCATION/x",
	".git\\notes", ".Git/two\nlines", ".GIT/\"quoted\"", ".g\u200cit/notes", "e/.\u206agit",
}

// refusedLinks are links that it refuses.
var refusedLinks = []string{".gitmodules", "sub/.GITMODULES", "x/GITMOD~1", "y/.gitmodules ", "z/.g\u200citmodules"}

// refuse writes files that git's index refuses, and others that need care.
func refuse(f *fixture, wt string) {
	f.Helper()
	for _, name := range refusedNames {
		f.write(wt, name, "work of "+name+"\n")
	}
	for _, name := range refusedLinks {
		f.write(wt, filepath.Join(filepath.Dir(name), "neighbour"), "x\n")
		f.must(os.Symlink("target of "+name, filepath.Join(wt, name)))
	}
	f.must(os.Chmod(filepath.Join(wt, "c/git~1"), 0o755))
	f.write(wt, "not \xff UTF-8/\xfe\n\"quoted\"", "bytes\n")
	f.write(wt, "other", "changed\n")
}

// restored restores a rescue, and compares the files with those before.
func (f *fixture) restored(r swarm.Rescue, before string) {
	f.Helper()
	works := f.rescue(swarm.RescueRequest{Ref: r.Ref, Action: swarm.RescueRestore, Into: filepath.Join(f.top, "again")})
	if diff := cmp.Diff(before, f.manifest(works[0].Path, ".git")); diff != "" {
		f.Errorf("restored by Rescue (-before +after):\n%s", diff)
	}
	f.git(f.repo, "worktree", "remove", "--force", works[0].Path)
	if out, err := f.command("/", "sh", "-c", r.Command).CombinedOutput(); err != nil {
		f.Errorf("%s: %v\n%s", r.Command, err, out)
	}
	if diff := cmp.Diff(before, f.manifest(f.ref.Path, ".git")); diff != "" {
		f.Errorf("restored by the command (-before +after):\n%s", diff)
	}
	if out := f.git(f.repo, "fsck", "--full", "--strict"); strings.Contains(out, "warning") || strings.Contains(out, "error") {
		f.Errorf("git fsck: %s", out)
	}
}

// TestRefusedNames checks that files which git's index refuses are saved and restored, and are
// in every list of changes.
func TestRefusedNames(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]map[string]string{
		"":                         nil,
		"upper case ignored":       {"core.ignoreCase": "true"},
		"names of other systems":   {"core.protectNTFS": "false", "core.protectHFS": "true"},
		"no modes and links":       {"core.fileMode": "false", "core.symlinks": "false"},
		"line ends":                {"core.autocrlf": "true", "core.safecrlf": "true"},
		"old stat, none untracked": {"core.ignoreStat": "true", "status.showUntrackedFiles": "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for key, value := range config {
				f.git(f.repo, "config", key, value)
			}
			f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
			wt := f.ref.Path
			refuse(f, wt)
			before := f.manifest(wt, ".git")
			for _, summary := range []bool{false, true} {
				d, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{Summary: summary})
				f.must(err)
				f.lists("the diff", d.Files)
				if !summary && !strings.Contains(f.show(d), "+work of .GIT/notes\n") {
					t.Error("the diff does not show .GIT/notes")
				}
			}
			if got := f.removeFrom("/", swarm.RemoveOptions{}); got.Result.Kept == nil || !got.Result.Kept.Forceable {
				t.Fatalf("without force: %+v", got)
			}
			got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
			if got.Result.Kept != nil || len(got.Result.Rescues) != 1 || f.exists(wt) {
				t.Fatalf("%+v, %+v", got, got.Result.Kept)
			}
			works := f.rescue(swarm.RescueRequest{Ref: got.Result.Rescues[0].Ref})
			f.lists("the rescue", works[0].Files)
			f.restored(got.Result.Rescues[0], before)
		})
	}
}

func (f *fixture) lists(what string, files []swarm.FileChange) {
	f.Helper()
	listed := make(map[string]bool)
	for _, file := range files {
		listed[file.Path] = true
	}
	for _, name := range append(append([]string{"other"}, refusedNames...), refusedLinks...) {
		if !listed[name] {
			f.Errorf("%s does not list %q", what, name)
		}
	}
}

// TestRefusedNamesIgnored checks that ignored files of such names are saved without force.
func TestRefusedNamesIgnored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".GIT", "a/.GIT/x.log", "git~1/.env", ".git /x.log", ".GIT/.env"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.write(f.repo, ".git/info/exclude", "/.GIT\n!/.GIT/\n")
			f.write(f.ref.Path, name, "secret\n")
			before := f.manifest(f.ref.Path, ".git")
			got := f.removeFrom("/", swarm.RemoveOptions{})
			if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
				t.Fatalf("%+v, %+v", got, got.Result.Kept)
			}
			f.restored(got.Result.Rescues[0], before)
		})
	}
}

// TestSpecialFiles checks that FIFOs and empty directories come back, and that what can't be
// saved keeps the worktree and is named.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	wt := f.ref.Path
	f.write(wt, "new", "x\n")
	f.must(os.MkdirAll(filepath.Join(wt, "empty/.GIT"), 0o700))
	f.must(unix.Mkfifo(filepath.Join(wt, "dir/pipe"), 0o600))
	f.must(os.Remove(filepath.Join(wt, "tracked")))
	f.must(unix.Mkfifo(filepath.Join(wt, "tracked"), 0o600))
	listener, err := net.Listen("unix", filepath.Join(f.top, "socket"))
	f.must(err)
	f.Cleanup(func() { _ = listener.Close() })
	f.must(os.Remove(filepath.Join(wt, "other")))
	f.must(os.Rename(filepath.Join(f.top, "socket"), filepath.Join(wt, "other")))
	before := f.manifest(wt, ".git", "other")
	got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
	if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
		t.Fatalf("%+v, %+v", got, got.Result.Kept)
	}
	f.restored(got.Result.Rescues[0], before)
	if !f.exists(filepath.Join(wt, "empty/.GIT")) {
		t.Error("the empty directory did not come back")
	}
	// Alone they do not count as work.
	plain := f.create(swarm.WorkspaceSpec{ID: "id-plain", Name: "plain", Base: f.repo})
	f.must(os.Mkdir(filepath.Join(plain.Path, "empty"), 0o700))
	if res, err := newWorkspace().Remove(t.Context(), plain, swarm.RemoveOptions{}); err != nil || res.Kept != nil || len(res.Rescues) > 0 {
		t.Errorf("Remove: %+v, %v", res, err)
	}
}

// TestLessSaved checks that a worktree stays if a rescue does not hold all that was listed.
func TestLessSaved(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"file", "archived", "index"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			f.write(f.ref.Path, "kept", "kept\n")
			f.write(f.ref.Path, ".GIT/notes", "work\n")
			f.write(f.ref.Path, "staged", "x\n")
			f.git(f.ref.Path, "add", "staged")
			before := f.manifest(f.ref.Path)
			w := newWorkspace()
			w.git.Before = func(args []string) {
				// Between the trees and the comparison.
				if args[0] != "update-ref" {
					return
				}
				switch what {
				case "file":
					f.write(f.ref.Path, "kept", "other\n")
				case "archived":
					f.write(f.ref.Path, ".GIT/notes", "more\n")
				}
			}
			if what == "index" {
				empty := filepath.Join(f.top, "empty-index")
				f.must(f.command(f.repo, "env", "GIT_INDEX_FILE="+empty, "git", "read-tree", "--empty").Run())
				w.git.Bin = f.wrap(`case "$*" in *hash-object*/index) exec git hash-object -w --no-filters '` + empty + `' ;; esac`)
			}
			res, err := w.Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept == nil || !strings.HasPrefix(res.Kept.Reason, "cannot save its contents: ") {
				t.Fatalf("Remove: %+v, %+v, %v", res, res.Kept, err)
			}
			want := map[string]string{"file": "the saved work does not hold 'kept'", "archived": "the saved work does not hold '.GIT/notes'", "index": "the saved work does not hold the index"}[what]
			if !strings.Contains(res.Kept.Reason, want) {
				t.Errorf("reason %q, want %q", res.Kept.Reason, want)
			}
			if refs := f.rescueRefs(); len(refs) > 0 {
				t.Errorf("rescues left: %v", refs)
			}
			if what == "index" {
				if diff := cmp.Diff(before, f.manifest(f.ref.Path)); diff != "" {
					t.Errorf("files (-before +after):\n%s", diff)
				}
			}
		})
	}
}

// TestLongHashes checks that work is saved in a repository whose hashes are those of SHA-256.
func TestLongHashes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.repo = filepath.Join(f.top, "long")
	f.git(f.top, "init", "-q", "--object-format=sha256", f.repo)
	f.commit(f.repo, "tracked", "one\n")
	f.commit(f.repo, "other", "one\n")
	f.ref = f.create(swarm.WorkspaceSpec{ID: "id-w", Name: "w", Base: f.repo})
	refuse(f, f.ref.Path)
	before := f.manifest(f.ref.Path, ".git")
	d, err := newWorkspace().Diff(t.Context(), f.ref, swarm.DiffOptions{})
	f.must(err)
	f.lists("the diff", d.Files)
	got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
	if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
		t.Fatalf("%+v, %+v", got, got.Result.Kept)
	}
	f.restored(got.Result.Rescues[0], before)
}

// TestNothingTaken checks that files are saved which git takes for no visible reason.
func TestNothingTaken(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.write(f.ref.Path, "new", "new\n")
	f.write(f.ref.Path, "tracked", "two\n")
	before := f.manifest(f.ref.Path, ".git")
	w := newWorkspace()
	w.git.Bin = f.wrap(`case "$*" in *update-index*--add*) exec cat >/dev/null ;; esac`)
	res, err := w.Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
	if err != nil || res.Kept != nil || len(res.Rescues) != 1 {
		t.Fatalf("Remove: %+v, %+v, %v", res, res.Kept, err)
	}
	f.restored(res.Rescues[0], before)
}

// TestConversionFails checks that files are saved which git can't convert.
func TestConversionFails(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.git(f.repo, "config", "filter.gone.clean", "no-such-program")
	f.git(f.repo, "config", "filter.gone.smudge", "cat")
	f.git(f.repo, "config", "filter.gone.required", "true")
	f.write(f.ref.Path, ".gitattributes", "*.big filter=gone\n*.utf16 working-tree-encoding=UTF-16\n")
	f.write(f.ref.Path, "new.big", "large\n")
	f.write(f.ref.Path, "new.utf16", "not in this encoding\xff\n")
	f.write(f.ref.Path, "new", "new\n")
	before := f.manifest(f.ref.Path, ".git")
	got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
	if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
		t.Fatalf("%+v, %+v", got, got.Result.Kept)
	}
	f.restored(got.Result.Rescues[0], before)
}

// TestPlaceOfASkippedFile checks that a file is saved which has the place of a directory, or a
// directory that has the place of a file, outside of a sparse checkout.
func TestPlaceOfASkippedFile(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.git(f.ref.Path, "sparse-checkout", "set", "--no-cone", "/tracked")
	f.write(f.ref.Path, "dir", "a file now\n")
	f.write(f.ref.Path, "other/file", "a directory now\n")
	got := f.removeFrom("/", swarm.RemoveOptions{Force: true})
	if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
		t.Fatalf("%+v, %+v", got, got.Result.Kept)
	}
	if out := f.git(f.repo, "ls-tree", "-r", "--name-only", got.Result.Rescues[0].Ref); !strings.Contains(out, "dir\n") || !strings.Contains(out, "other/file\n") {
		t.Errorf("saved are %s", out)
	}
	works := f.rescue(swarm.RescueRequest{Ref: got.Result.Rescues[0].Ref, Action: swarm.RescueRestore})
	for name, want := range map[string]string{"dir": "a file now\n", "other/file": "a directory now\n"} {
		if text, err := os.ReadFile(filepath.Join(works[0].Path, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// wrap returns a program that runs a script and then git.
func (f *fixture) wrap(script string) string {
	f.Helper()
	path := filepath.Join(f.top, "wrapped-git")
	f.must(os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\nexec git \"$@\"\n"), 0o700)) //nolint:gosec // it is run
	return path
}
