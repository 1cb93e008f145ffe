package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/occupant"
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
	// everywhere says that it is tested from all working directories, with and without
	// Force. The other states take turns, see TestStates.
	everywhere bool
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
	{name: "clean", everywhere: true, make: func(*fixture, string) {}},
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
	{name: "unstaged", everywhere: true, kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
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
	{name: "everything", everywhere: true, kept: "worktree has 14 uncommitted change(s)", rescues: 1, make: everything},
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
	{name: "conflict about a file that is gone", detaches: true, kept: "worktree has 1 uncommitted change(s)", rescues: 1, make: func(f *fixture, wt string) {
		f.write(wt, "tracked", "stashed\n")
		f.git(wt, "stash", "--quiet")
		f.commit(wt, "tracked", "committed\n")
		f.fails(wt, "stash", "pop")
		f.must(os.Remove(filepath.Join(wt, "tracked")))
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
	{name: "ignored file", everywhere: true, rescues: 1, make: func(f *fixture, wt string) {
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
	{name: "assume-unchanged and removed", kept: "worktree has 1 change(s) in files marked assume-unchanged or skip-worktree", rescues: 1, make: func(f *fixture, wt string) {
		f.git(wt, "update-index", "--assume-unchanged", "tracked", "other")
		f.must(os.Remove(filepath.Join(wt, "tracked")))
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
	{name: "merge", everywhere: true, kept: "a merge is in progress", forced: "a merge is in progress", make: func(f *fixture, wt string) {
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
	{name: "locked", everywhere: true, kept: "worktree is locked: on a stick", forced: "worktree is locked: on a stick", make: func(f *fixture, wt string) {
		f.git(f.repo, "worktree", "lock", "--reason", "on a stick", wt)
	}},
	{name: "submodule, pushed", everywhere: true, make: func(f *fixture, wt string) { f.submodule(wt) }},
	{name: "submodule, not checked out", make: func(f *fixture, wt string) {
		f.submodule(wt)
		f.git(wt, "submodule", "--quiet", "deinit", "--all")
	}},
	{name: "submodule, changed", everywhere: true, kept: "submodule 'vendor/lib' has 1 uncommitted change(s)", forced: "submodule 'vendor/lib' has 1 uncommitted change(s)", make: func(f *fixture, wt string) {
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
	{name: "submodule, assume-unchanged", kept: "submodule 'vendor/lib' has files marked assume-unchanged or skip-worktree", forced: "submodule 'vendor/lib' has files marked assume-unchanged or skip-worktree", make: func(f *fixture, wt string) {
		sub := f.submodule(wt)
		f.git(sub, "update-index", "--assume-unchanged", "code")
		f.write(sub, "code", "two\n")
	}},
	{name: "submodule, bisect", kept: "in submodule 'vendor/lib' a bisect is in progress", forced: "in submodule 'vendor/lib' a bisect is in progress", make: func(f *fixture, wt string) {
		f.git(f.submodule(wt), "bisect", "start")
	}},
	{name: "submodule, damaged", kept: "submodule 'vendor/lib' is damaged", forced: "submodule 'vendor/lib' is damaged", make: func(f *fixture, wt string) {
		dotGit := filepath.Join(f.submodule(wt), ".git")
		f.must(os.Remove(dotGit))
		f.must(os.Mkdir(dotGit, 0o755))
	}},
	{name: "submodule in a submodule", make: func(f *fixture, wt string) {
		inner, lib := filepath.Join(f.top, "inner"), filepath.Join(f.top, "lib")
		f.git(f.top, "init", "-q", inner)
		f.commit(inner, "code", "one\n")
		f.git(f.top, "init", "-q", lib)
		f.git(lib, "submodule", "--quiet", "add", inner, "inner")
		f.submodule(wt)
		f.git(wt, "submodule", "--quiet", "update", "--init", "--recursive")
	}},
	{name: "submodule, files without a repository", kept: "submodule 'vendor/lib' has files of its own", forced: "submodule 'vendor/lib' has files of its own", make: func(f *fixture, wt string) {
		sub := f.submodule(wt)
		f.git(wt, "submodule", "--quiet", "deinit", "--all")
		f.write(sub, "notes", "n")
	}},
	{name: "process inside", everywhere: true, kept: "in use by sh (pid …", forced: "in use by sh (pid …", make: func(f *fixture, wt string) {
		f.live(filepath.Join(wt, "dir"), "sh", "-c", "echo; read x")
	}},
	{name: "file open inside", kept: "in use by sh (pid …", forced: "in use by sh (pid …", make: func(f *fixture, wt string) {
		f.live("/", "sh", "-c", "exec 5<"+git.Word(wt+"/tracked")+"; echo; read x")
	}},
	{name: "program inside", kept: "in use by …", forced: "in use by …", make: func(f *fixture, wt string) {
		cat, err := exec.LookPath("cat")
		f.must(err)
		f.must(os.MkdirAll(filepath.Join(wt, "build"), 0o755))
		f.must(f.command(wt, "cp", cat, "build/prog").Run())
		f.live("/", "sh", "-c", "echo; exec "+git.Word(wt+"/build/prog"))
		waitFor(f.T, func() bool {
			ps, err := occupant.In(f.Context(), wt)
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
	{name: "moved", everywhere: true, kept: "it was moved to …", forced: "it was moved to …", make: func(f *fixture, wt string) {
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
