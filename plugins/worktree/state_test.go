package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// state is a state of a worktree, and what Remove does with it.
type state struct {
	name string
	make func(f *fixture, wt string)
	// kept is the reason without Force, and forced the reason with it. A reason
	// that ends in … is compared up to there.
	kept, forced string
	// rescues says how many refs a removal makes.
	rescues int
	// detaches says that the rescue can't check out the branch again.
	detaches bool
}

func (s state) forceable() bool { return s.kept != "" && s.forced == "" }

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// submodule adds a submodule to the worktree and commits it.
func (f *fixture) submodule(wt string) string {
	f.Helper()
	lib := filepath.Join(f.top, "lib")
	f.git(f.top, "init", "-q", lib)
	f.commit(lib, "code", "one\n")
	f.git(wt, "submodule", "--quiet", "add", lib, "vendor/lib")
	f.git(wt, "commit", "-qm", "submodule")
	return filepath.Join(wt, "vendor/lib")
}

func (f *fixture) conflict(wt string) {
	f.Helper()
	f.git(wt, "branch", "theirs")
	f.commit(wt, "tracked", "ours\n")
	f.git(wt, "switch", "-q", "theirs")
	f.commit(wt, "tracked", "theirs\n")
}

// live starts a process and ends it with the test. It is ready when it has
// closed its stdout.
func (f *fixture) live(dir string, argv ...string) {
	f.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	f.must(err)
	stdout, err := cmd.StdoutPipe()
	f.must(err)
	f.must(cmd.Start())
	_, err = stdout.Read(make([]byte, 1))
	f.must(err)
	f.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
}

var states = []state{
	{name: "clean", make: func(*fixture, string) {}},
	{name: "commits on the branch", make: func(f *fixture, wt string) { f.commit(wt, "tracked", "two\n") }},
	{name: "squash-merged branch", make: func(f *fixture, wt string) {
		f.commit(wt, "tracked", "two\n")
		f.git(f.repo, "merge", "-q", "--squash", "w")
		f.git(f.repo, "commit", "-qm", "squashed")
	}},
	{name: "stash", make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "stashed\n")
		f.git(wt, "stash", "--quiet")
	}},
	{name: "unstaged", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "two\n")
	}},
	{name: "staged", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "two\n")
		f.git(wt, "add", "tracked")
	}},
	{name: "staged, then changed back", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "two\n")
		f.git(wt, "add", "tracked")
		f.write(wt, "tracked", "one\n")
	}},
	{name: "untracked", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "new/a", "a")
		f.write(wt, "new/b", "b")
		f.write(wt, "new/.env", "hidden in an untracked directory")
	}},
	{name: "everything", kept: "worktree has 14 uncommitted change(s)", rescues: 1, make: everything},
	{name: "untracked, which the config hides", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.git(f.repo, "config", "status.showUntrackedFiles", "no")
		f.write(wt, "new", "a")
	}},
	{name: "conflict without a merge", detaches: true, kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "stashed\n")
		f.git(wt, "stash", "--quiet")
		f.commit(wt, "tracked", "committed\n")
		f.fails(wt, "stash", "pop")
		f.write(wt, "tracked", "half resolved\n")
	}},
	{name: "conflict of what is nowhere else", detaches: true, kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		var info strings.Builder
		for i, text := range []string{"base", "ours", "theirs"} {
			f.write(f.top, "blob", text)
			hash := strings.TrimSpace(f.git(wt, "hash-object", "-w", filepath.Join(f.top, "blob")))
			fmt.Fprintf(&info, "100644 %s %d\ttracked\n", hash, i+1)
		}
		f.git(wt, "rm", "-q", "--cached", "tracked")
		cmd := f.command(wt, "git", "update-index", "--index-info")
		cmd.Stdin = strings.NewReader(info.String())
		f.must(cmd.Run())
	}},
	{name: "converted by attributes", kept: "worktree has 3 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.git(f.repo, "config", "filter.lossy.clean", "head -c 3")
		f.git(f.repo, "config", "filter.lossy.smudge", "cat")
		f.write(wt, ".gitattributes", "*.txt text=auto eol=crlf\n*.nb filter=lossy\n")
		f.write(wt, "mixed.txt", "one\r\ntwo\nthree\r\n")
		f.write(wt, "notes.nb", "much more than three bytes")
	}},
	{name: "before the first commit", kept: "worktree has 6 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "checkout", "-q", "--orphan", "fresh")
	}},
	{name: "ignored file", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, ".env", "SECRET=1\n")
		f.write(wt, "dir/x.log", "log\n")
	}},
	{name: "ignored directory", make: func(f *fixture, wt string) { f.write(wt, "build/out", "o") }},
	{name: "large ignored file", kept: "worktree has 11 MiB of ignored files outside of ignored directories", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "x.log", strings.Repeat("0123456789abcde\n", 11<<16))
	}},
	{name: "assume-unchanged", kept: "worktree has 1 change(s) in files marked assume-unchanged or skip-worktree", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "update-index", "--assume-unchanged", "tracked", "other")
		f.write(wt, "tracked", "hidden\n")
	}},
	{name: "skip-worktree", kept: "worktree has 1 change(s) in files marked assume-unchanged or skip-worktree", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "update-index", "--skip-worktree", "tracked", "other")
		f.write(wt, "tracked", "hidden\n")
	}},
	{name: "marked, but unchanged", make: func(f *fixture, wt string) {
		f.git(wt, "update-index", "--assume-unchanged", "tracked")
		f.git(wt, "update-index", "--skip-worktree", "other")
	}},
	{name: "sparse checkout", make: func(f *fixture, wt string) { f.git(wt, "sparse-checkout", "set", "--no-cone", "/tracked") }},
	{name: "detached", make: func(f *fixture, wt string) { f.git(wt, "checkout", "-q", "--detach") }},
	{name: "detached with commits", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "checkout", "-q", "--detach")
		f.commit(wt, "tracked", "two\n")
		f.commit(wt, "tracked", "three\n")
	}},
	{name: "detached with commits and changes", kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "checkout", "-q", "--detach")
		f.commit(wt, "tracked", "two\n")
		f.write(wt, "tracked", "three\n")
	}},
	{name: "merge", kept: "a merge is in progress", forced: "a merge is in progress", make: func(f *fixture, wt string) {
		f.conflict(wt)
		f.fails(wt, "merge", "w")
	}},
	{name: "rebase", kept: "a rebase is in progress", forced: "a rebase is in progress", make: func(f *fixture, wt string) {
		f.conflict(wt)
		f.fails(wt, "rebase", "w")
	}},
	{name: "cherry-pick", kept: "a cherry-pick is in progress", forced: "a cherry-pick is in progress", make: func(f *fixture, wt string) {
		f.conflict(wt)
		f.fails(wt, "cherry-pick", "w")
	}},
	{name: "revert", kept: "a revert is in progress", forced: "a revert is in progress", make: func(f *fixture, wt string) {
		f.git(wt, "revert", "--no-commit", "HEAD")
	}},
	{name: "am", kept: "git am is in progress", forced: "git am is in progress", make: func(f *fixture, wt string) {
		f.conflict(wt)
		f.write(f.top, "mbox", f.git(wt, "format-patch", "--stdout", "main..w"))
		f.fails(wt, "am", filepath.Join(f.top, "mbox"))
	}},
	{name: "bisect", kept: "a bisect is in progress", forced: "a bisect is in progress", make: func(f *fixture, wt string) {
		f.git(wt, "bisect", "start")
	}},
	{name: "git died in it", kept: "a git command is in progress", forced: "a git command is in progress", make: func(f *fixture, wt string) {
		f.write(f.admin(), "index.lock", "")
	}},
	{name: "locked", kept: "worktree is locked: on a stick", forced: "worktree is locked: on a stick", make: func(f *fixture, wt string) {
		f.git(f.repo, "worktree", "lock", "--reason", "on a stick", wt)
	}},
	{name: "submodule, pushed", make: func(f *fixture, wt string) { f.submodule(wt) }},
	{name: "submodule, not checked out", make: func(f *fixture, wt string) {
		f.submodule(wt)
		f.git(wt, "submodule", "--quiet", "deinit", "--all")
	}},
	{name: "submodule, changed", kept: "submodule 'vendor/lib' has 1 uncommitted change(s)", forced: "submodule 'vendor/lib' has 1 uncommitted change(s)", make: func(f *fixture, wt string) {
		f.write(f.submodule(wt), "code", "two\n")
	}},
	{name: "submodule, untracked, ignored by config", kept: "submodule 'vendor/lib' has 1 uncommitted change(s)", forced: "submodule 'vendor/lib' has 1 uncommitted change(s)", make: func(f *fixture, wt string) {
		f.write(f.submodule(wt), "new", "two\n")
		f.git(wt, "config", "submodule.vendor/lib.ignore", "all")
	}},
	{name: "submodule, ignored file", kept: "submodule 'vendor/lib' has ignored files", forced: "submodule 'vendor/lib' has ignored files", make: func(f *fixture, wt string) {
		sub := f.submodule(wt)
		f.write(strings.TrimSpace(f.git(sub, "rev-parse", "--absolute-git-dir")), "info/exclude", "secret\n")
		f.write(sub, "secret", "s")
	}},
	{name: "submodule, other commit", kept: "submodule 'vendor/lib' is at another commit", forced: "submodule 'vendor/lib' is at another commit", make: func(f *fixture, wt string) {
		f.commit(f.submodule(wt), "code", "two\n")
	}},
	{name: "submodule, not pushed", kept: "submodule 'vendor/lib' has commits that were not pushed", forced: "submodule 'vendor/lib' has commits that were not pushed", make: func(f *fixture, wt string) {
		f.commit(f.submodule(wt), "code", "two\n")
		f.git(wt, "commit", "-qam", "use it")
	}},
	{name: "submodule, not pushed, not checked out", kept: "submodule 'vendor/lib' has commits that were not pushed", forced: "submodule 'vendor/lib' has commits that were not pushed", make: func(f *fixture, wt string) {
		f.commit(f.submodule(wt), "code", "two\n")
		f.git(wt, "commit", "-qam", "use it")
		f.git(wt, "submodule", "--quiet", "deinit", "--all")
	}},
	{name: "submodule, stash", kept: "submodule 'vendor/lib' has a stash", forced: "submodule 'vendor/lib' has a stash", make: func(f *fixture, wt string) {
		sub := f.submodule(wt)
		f.write(sub, "code", "two\n")
		f.git(sub, "stash", "--quiet")
	}},
	{name: "submodule, files without a repository", kept: "submodule 'vendor/lib' has files of its own", forced: "submodule 'vendor/lib' has files of its own", make: func(f *fixture, wt string) {
		sub := f.submodule(wt)
		f.git(wt, "submodule", "--quiet", "deinit", "--all")
		f.write(sub, "notes", "n")
	}},
	{name: "process inside", kept: "in use by sh (pid …", forced: "in use by sh (pid …", make: func(f *fixture, wt string) {
		f.live(filepath.Join(wt, "dir"), "sh", "-c", "echo; read x")
	}},
	{name: "file open inside", kept: "in use by sh (pid …", forced: "in use by sh (pid …", make: func(f *fixture, wt string) {
		f.live("/", "sh", "-c", "exec 5<"+shellQuote(wt+"/tracked")+"; echo; read x")
	}},
	{name: "program inside", kept: "in use by …", forced: "in use by …", make: func(f *fixture, wt string) {
		cat, err := exec.LookPath("cat")
		f.must(err)
		f.must(os.MkdirAll(filepath.Join(wt, "build"), 0o755))
		f.must(f.command(wt, "cp", cat, "build/prog").Run())
		f.live("/", "sh", "-c", "echo; exec "+shellQuote(wt+"/build/prog"))
		waitFor(f.T, func() bool {
			ps, err := livingIn(f.Context(), wt)
			return err == nil && len(ps) > 0
		})
	}},
	{name: "repository inside", kept: "it contains another git repository: 'inner'", forced: "it contains another git repository: 'inner'", make: func(f *fixture, wt string) {
		f.git(wt, "init", "-q", "inner")
	}},
	{name: "repository in an ignored directory", kept: "it contains another git repository: 'build/inner'", forced: "it contains another git repository: 'build/inner'", make: func(f *fixture, wt string) {
		f.git(wt, "init", "-q", "build/inner")
	}},
	{name: "bare repository in an ignored directory", kept: "it contains another git repository: 'build/inner.git'", forced: "it contains another git repository: 'build/inner.git'", make: func(f *fixture, wt string) {
		f.git(wt, "init", "-q", "--bare", "build/inner.git")
	}},
	{name: "worktree inside", kept: "it contains another git repository: 'build/second'", forced: "it contains another git repository: 'build/second'", make: func(f *fixture, wt string) {
		f.git(wt, "worktree", "add", "-q", "build/second")
	}},
	{name: "index damaged", kept: "it cannot be inspected: git …", forced: "it cannot be inspected: git …", make: func(f *fixture, _ string) {
		f.write(f.admin(), "index", "garbage")
	}},
	{name: "no .git", kept: "it cannot be inspected: lstat …", forced: "it cannot be inspected: lstat …", make: func(f *fixture, wt string) {
		f.must(os.Remove(filepath.Join(wt, ".git")))
	}},
	{name: ".git of another worktree", kept: "…belongs to another repository now", forced: "…belongs to another repository now", make: func(f *fixture, wt string) {
		other := filepath.Join(f.top, "second")
		f.git(f.repo, "worktree", "add", "-q", other)
		b, err := os.ReadFile(filepath.Join(other, ".git"))
		f.must(err)
		f.write(wt, ".git", string(b))
	}},
	{name: "replaced by a repository", kept: "…is another repository now", forced: "…is another repository now", make: func(f *fixture, wt string) {
		f.must(os.Rename(wt, filepath.Join(f.top, "away")))
		f.git(f.top, "init", "-q", wt)
	}},
	{name: "replaced by a symbolic link", kept: "…is not a directory any more", forced: "…is not a directory any more", make: func(f *fixture, wt string) {
		away := filepath.Join(f.top, "away")
		f.must(os.Rename(wt, away))
		f.must(os.Symlink(away, wt))
	}},
	{name: "parent replaced by a symbolic link", kept: "…is reached through a symbolic link now", forced: "…is reached through a symbolic link now", make: func(f *fixture, wt string) {
		away := filepath.Join(f.top, "away")
		f.must(os.Rename(filepath.Dir(wt), away))
		f.must(os.Symlink(away, filepath.Dir(wt)))
	}},
	{name: "made anew by the user", kept: "…was not made for this worker", forced: "…was not made for this worker", make: func(f *fixture, wt string) {
		f.git(f.repo, "worktree", "remove", wt)
		f.git(f.repo, "worktree", "add", "-q", wt, "w")
	}},
	{name: "moved", kept: "it was moved to …", forced: "it was moved to …", make: func(f *fixture, wt string) {
		f.git(f.repo, "worktree", "move", wt, filepath.Join(f.top, "moved"))
	}},
	{name: "repository turned bare", kept: "its repository cannot be used: …", forced: "its repository cannot be used: …", make: func(f *fixture, _ string) {
		f.git(f.repo, "config", "core.bare", "true")
	}},
	{name: "directory too deep to look into", kept: "it cannot be inspected: …", forced: "it cannot be inspected: …", make: func(f *fixture, wt string) {
		// As unreadable as a path gets, for root too.
		f.must(f.command(wt, "sh", "-c", `d=$(printf %0200d 0); for i in $(seq 25); do mkdir $d && cd -P $d || exit 1; done; echo lost > file`).Run())
	}},
}

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

func TestStates(t *testing.T) {
	t.Parallel()
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, force := range []bool{false, true} {
				want := s.kept
				if force {
					want = s.forced
				}
				if want != "" {
					s.checkKept(t, force, want)
					continue
				}
				for _, from := range []string{"worktree", "repository", "elsewhere"} {
					s.checkRemoved(t, force, from)
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

func (s state) checkKept(t *testing.T, force bool, want string) {
	f := withWorktree(t)
	s.make(f, f.ref.Path)
	whole, refs := f.manifest(f.top, "it's a repo/.git/swarm.lock"), f.git(f.repo, "for-each-ref")
	for _, from := range []string{"worktree", "repository", "elsewhere"} {
		got := f.removeFrom(f.directory(from), swarm.RemoveOptions{Force: force})
		kept := got.Result.Kept
		if got.Err != "" || kept == nil || !matches(kept.Reason, want) || kept.Forceable != s.forceable() {
			t.Errorf("force %t, from %s: %+v, error %q; want kept because %q, forceable %t", force, from, kept, got.Err, want, s.forceable())
		}
		if diff := cmp.Diff(whole, f.manifest(f.top, "it's a repo/.git/swarm.lock")); diff != "" {
			t.Fatalf("force %t, from %s: files (-before +after):\n%s", force, from, diff)
		}
		if diff := cmp.Diff(refs, f.git(f.repo, "for-each-ref")); diff != "" {
			t.Errorf("force %t, from %s: refs (-before +after):\n%s", force, from, diff)
		}
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
			if s.detaches {
				before[1] = strings.Replace(before[1], "branch.head w", "branch.head (detached)", 1)
			}
			res, err := newWorkspace().Remove(t.Context(), f.ref, swarm.RemoveOptions{Force: true})
			if err != nil || res.Kept != nil || len(res.Rescues) != s.rescues {
				t.Fatalf("Remove: %+v, %v", res, err)
			}
			// A rescue outlives any clean-up of git's.
			f.git(f.repo, "reflog", "expire", "--expire=now", "--all")
			f.git(f.repo, "gc", "--quiet", "--prune=now")
			for _, r := range res.Rescues {
				if out, err := f.command("/", "sh", "-c", r.Command).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", r.Command, err, out)
				}
			}
			if diff := cmp.Diff(before, look()); diff != "" {
				t.Errorf("worktree (-before +after):\n%s", diff)
			}
		})
	}
}
