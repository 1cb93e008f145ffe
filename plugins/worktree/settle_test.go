package worktree

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// synced is a path that was written to the disk, or the word of a git that was started.
var (
	syncCall = regexp.MustCompile(`(?:fsync|fdatasync)\(\d+<([^>]*)>`)
	execCall = regexp.MustCompile(`execve\("[^"]*git", \[(.*)\]`)
)

// traced removes the worktree under strace. It returns the paths that this process had written
// to the disk before it let git remove the worktree.
func (f *fixture) traced(opts swarm.RemoveOptions) (synced []string, r removal) {
	f.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		f.Skip("it needs strace")
	}
	in, err := json.Marshal(removal{Ref: f.ref, Opts: opts})
	f.must(err)
	self, err := os.Executable()
	f.must(err)
	trace := filepath.Join(f.top, "trace")
	cmd := exec.CommandContext(f.Context(), strace, "-f", "-y", "-s", "4096", "-e", "trace=fsync,fdatasync,execve", "-o", trace, self)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), removeEnv+"="+string(in))
	out, err := cmd.Output()
	f.must(err)
	f.must(json.Unmarshal(out, &r))
	calls, err := os.ReadFile(trace)
	f.must(err)
	removed := false
	for line := range strings.Lines(string(calls)) {
		if m := execCall.FindStringSubmatch(line); m != nil && strings.Contains(m[1], `"worktree", "remove"`) {
			removed = true
			break
		}
		if m := syncCall.FindStringSubmatch(line); m != nil {
			synced = append(synced, m[1])
		}
	}
	if !removed && r.Result.Kept == nil {
		f.Errorf("git did not remove the worktree:\n%s", calls)
	}
	return synced, r
}

// durable checks that an object or a reference in the git directory, and the directories that
// name it, were written.
func (f *fixture) durable(synced []string, dir, name string) {
	f.Helper()
	for path := name; path != "."; path = filepath.Dir(path) {
		if !slices.Contains(synced, filepath.Join(dir, path)) {
			f.Errorf("%s was not on the disk before the removal", filepath.Join(dir, path))
		}
	}
}

// TestDurable checks that whatever is outside of a worktree in its place is on the disk before
// the worktree goes.
func TestDurable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make  func(f *fixture, wt string)
		force bool
	}{
		"uncommitted": {make: func(f *fixture, wt string) {
			f.write(wt, "new/file", "new\n")
			f.write(wt, ".GIT/notes", "archived\n")
			f.write(wt, "tracked", "staged\n")
			f.git(wt, "add", "tracked")
			f.write(wt, "tracked", "changed\n")
		}, force: true},
		"conflict": {make: func(f *fixture, wt string) {
			f.write(wt, "tracked", "stashed\n")
			f.git(wt, "stash", "--quiet")
			f.commit(wt, "tracked", "committed\n")
			f.fails(wt, "stash", "pop")
		}, force: true},
		"ignored": {make: func(f *fixture, wt string) { f.write(wt, ".env", "SECRET\n") }},
		"commits": {make: func(f *fixture, wt string) { f.commit(wt, "tracked", "two\n") }},
		"amended": {make: func(f *fixture, wt string) {
			f.commit(wt, "tracked", "two\n")
			f.git(wt, "commit", "--amend", "-qm", "amended")
		}},
		"detached": {make: func(f *fixture, wt string) {
			f.git(wt, "checkout", "-q", "--detach")
			f.commit(wt, "tracked", "two\n")
			f.commit(wt, "dir/file", "three\n")
		}},
		"left behind": {make: func(f *fixture, wt string) {
			f.git(wt, "checkout", "-q", "--detach")
			f.commit(wt, "tracked", "two\n")
			f.git(wt, "checkout", "-q", "w")
		}},
		"in another object directory": {make: func(f *fixture, wt string) {
			f.git(f.top, "init", "-q", "--bare", "store.git")
			f.write(f.repo, ".git/objects/info/alternates", f.top+"/store.git/objects\n")
			f.write(wt, "new", "in both\n")
			f.git(f.top+"/store.git", "hash-object", "-w", filepath.Join(wt, "new"))
		}, force: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := withWorktree(t)
			before := f.git(f.repo, "cat-file", "--batch-check", "--batch-all-objects")
			c.make(f, f.ref.Path)
			synced, got := f.traced(swarm.RemoveOptions{Force: c.force})
			if got.Result.Kept != nil || got.Err != "" {
				t.Fatalf("%+v", got)
			}
			git := filepath.Join(f.repo, ".git")
			tips := []string{"refs/heads/w"}
			for _, r := range got.Result.Rescues {
				tips = append(tips, r.Ref)
			}
			for _, ref := range tips {
				f.durable(synced, git, ref)
			}
			n := 0
			for hash := range strings.FieldsSeq(f.git(f.repo, append([]string{"rev-list", "--objects", "--no-object-names", "--reflog"}, tips...)...)) {
				if strings.Contains(before, hash) {
					continue
				}
				n++
				dir, loose := filepath.Join(git, "objects"), filepath.Join(hash[:2], hash[2:])
				if !f.exists(filepath.Join(dir, loose)) {
					dir = filepath.Join(f.top, "store.git/objects")
				}
				f.durable(synced, dir, loose)
				if !slices.Contains(synced, dir) {
					t.Errorf("%s was not on the disk before the removal", dir)
				}
			}
			if n == 0 {
				t.Error("nothing was saved")
			}
		})
	}
}

// TestDurablePacks checks the same of objects in packs.
func TestDurablePacks(t *testing.T) {
	t.Parallel()
	f := withWorktree(t)
	f.git(f.ref.Path, "checkout", "-q", "--detach")
	f.commit(f.ref.Path, "tracked", "two\n")
	f.git(f.repo, "pack-refs", "--all")
	f.git(f.ref.Path, "repack", "-adq")
	synced, got := f.traced(swarm.RemoveOptions{})
	if got.Result.Kept != nil || len(got.Result.Rescues) != 1 {
		t.Fatalf("%+v", got)
	}
	git := filepath.Join(f.repo, ".git")
	packs, err := filepath.Glob(git + "/objects/pack/*.*")
	f.must(err)
	for _, path := range append(packs, git+"/objects/pack", git+"/objects", git+"/packed-refs", git) {
		if !slices.Contains(synced, path) {
			t.Errorf("%s was not on the disk before the removal", path)
		}
	}
	if len(packs) < 2 {
		t.Errorf("packs: %q", packs)
	}
}

// TestDamagedObject checks that a worktree stays if the repository has lost an object that is
// in its work: git takes an empty file for the object.
func TestDamagedObject(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"emptied by a power cut": func(path string) error { return os.Truncate(path, 0) },
		"gone":                   os.Remove,
	} {
		for _, what := range []string{"new", "committed"} {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				f := withWorktree(t)
				f.write(f.ref.Path, what, "the content\n")
				hash := strings.TrimSpace(f.git(f.repo, "hash-object", "-w", filepath.Join(f.ref.Path, what)))
				if what == "committed" {
					f.commit(f.ref.Path, what, "the content\n")
				}
				path := filepath.Join(f.repo, ".git/objects", hash[:2], hash[2:])
				f.must(os.Chmod(path, 0o600))
				f.must(spoil(path))
				before := f.manifest(f.ref.Path)
				res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
				f.must(err)
				if what == "new" && name == "gone" {
					if res.Kept != nil { // it is written again
						t.Errorf("%+v", res.Kept)
					}
					return
				}
				if res.Kept == nil || len(f.rescueRefs()) > 0 {
					t.Fatalf("Remove: %+v", res)
				}
				if !strings.Contains(res.Kept.Reason, hash) {
					t.Errorf("the reason does not name the object %s: %s", hash, res.Kept.Reason)
				}
				f.sameFiles(before)
			})
		}
	}
}

func (f *fixture) sameFiles(before string) {
	f.Helper()
	if after := f.manifest(f.ref.Path); after != before {
		f.Errorf("files before:\n%s\nafter:\n%s", before, after)
	}
}
