package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/plugins/worktree/gittest"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestMain(m *testing.M) { os.Exit(gittest.Main(m, nil)) }

// slowGit starts a command of its own, as git does for a filter or a fetch. On a
// SIGTERM it ends at once, and the command a moment later, without its lock.
const slowGit = `#!/bin/sh
sh -c '
	trap "sleep 0.3; rm -f lock; exit 1" TERM
	: > lock
	echo $$ > pid.new && mv pid.new pid
	while :; do sleep 0.05; done
' >/dev/null 2>&1 &
wait
`

// TestCancelledGit: a git that is cancelled ends what it started, and run returns only
// then: a command that continues would hold locks.
func TestCancelledGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "git")
	if err := buildtest.Write(bin, []byte(slowGit), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Git{Bin: bin, dir: dir}.Run(ctx, "status")
		done <- err
	}()
	pid := awaitPID(t, filepath.Join(dir, "pid"), done)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled git: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
		t.Error("the command that git started still holds its lock")
	}
	// Until its parent waits for it, it is there as a zombie.
	if err := syscall.Kill(pid, 0); err == nil && !isZombie(pid) {
		t.Errorf("the command that git started still runs as process %d", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// awaitPID returns the pid in a file once it is there.
func awaitPID(t *testing.T, path string, done <-chan error) int {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if b, err := os.ReadFile(path); err == nil { //nolint:gosec // it is the test's own
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		select {
		case err := <-done:
			t.Fatalf("git ended before it was cancelled: %v", err)
		case <-limit:
			t.Fatal("git started nothing")
		case <-tick.C:
		}
	}
}

// isZombie reports whether a process has ended and its parent has not waited for it.
func isZombie(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}

// TestEnvironment: neither the caller's variables nor a user's settings reach git.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	dir := gittest.New(t, map[string]string{"file": "one\n", "gone": "one\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	gittest.Run(t, dir, "config", "core.fsmonitor", "touch "+Word(ran)+"; false")
	gittest.Run(t, dir, "config", "status.showUntrackedFiles", "no")
	gittest.Write(t, dir, "file", "two\n")
	gittest.Write(t, dir, "new", "new\n")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	s, err := Git{Bin: "git"}.At(dir).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Status{Lines: 3, Untracked: []string{"new"}}, s); diff != "" {
		t.Errorf("Status (-want +got):\n%s", diff)
	}
	if _, err := os.Lstat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Error("a program of the repository ran")
	}
}

// TestDisarmed: filters that the repository names do not run, those of the user do.
func TestDisarmed(t *testing.T) {
	t.Parallel()
	dir := gittest.New(t, map[string]string{"file": "one\n", ".gitattributes": "file filter=mine\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	gittest.Run(t, dir, "config", "filter.mine.clean", "touch "+Word(ran)+"; cat")
	gittest.Write(t, dir, "file", "two\n")
	g, err := Git{Bin: "git"}.At(dir).Disarmed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		g    Git
		runs bool
	}{{g, false}, {Git{Bin: "git", dir: dir}, true}} {
		if _, err := tt.g.Run(t.Context(), "hash-object", "-w", "file"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(ran); (err == nil) != tt.runs {
			t.Errorf("the filter ran: %t, want %t", err == nil, tt.runs)
		}
	}
}

// TestAnswers reads the answers of git to what the plugin asks.
func TestAnswers(t *testing.T) {
	t.Parallel()
	dir := gittest.New(t, map[string]string{"a file": "one\n", "deep/line\nbreak": "two\n"})
	gittest.Run(t, dir, "update-index", "--skip-worktree", "a file")
	g := Git{Bin: "git"}.At(dir)
	files, err := g.LsTree(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	const one, two = "5626abf0f72e58d7a153368ba57db4c673c0e171", "f719efd430d52bcfc8566a43b2eb655688d38871"
	if diff := cmp.Diff(map[string]File{"a file": {ModeFile, one}, "deep/line\nbreak": {ModeFile, two}}, files); diff != "" {
		t.Errorf("LsTree (-want +got):\n%s", diff)
	}
	entries, err := g.LsFiles(t.Context())
	if err != nil || len(entries) != 2 || !entries[0].Skipped() || !entries[0].Hidden() || entries[1].Hidden() || entries[1].Hash != two {
		t.Errorf("LsFiles: %+v, %v", entries, err)
	}
	for ref, want := range map[string]bool{"refs/heads/main": true, "refs/heads/other": false} {
		if got, err := g.Ask(t.Context(), "show-ref", "--verify", "--quiet", ref); err != nil || got != want {
			t.Errorf("Ask for %s: %t, %v", ref, got, err)
		}
	}
	_, err = g.Run(t.Context(), "rev-parse", "--verify", "nothing")
	if failed, ok := errors.AsType[*Error](err); !ok || failed.Code != 128 || err.Error() != "git rev-parse: Needed a single revision" {
		t.Errorf("a failing git: %v", err)
	}
	if err := (Git{Bin: "/nonexistent/git"}).RunWhole(t.Context(), "version"); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("a missing git: %v", err)
	}
}

// TestWord: the shell reads back each word.
func TestWord(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a b", "it's", "line\nbreak", "\x1b[31m'\\", "ümlaut", "$HOME"} {
		out, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+Word(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("Word(%q) = %s, which is %q, %v", s, Word(s), out, err)
		}
		if strings.ContainsAny(Word(s), "\n\x1b") {
			t.Errorf("Word(%q) has control characters", s)
		}
	}
}
