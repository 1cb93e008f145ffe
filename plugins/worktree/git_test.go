package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// slowGit starts a command beside itself, as git does for a filter or a fetch. On a
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
// then: a command that goes on would hold locks.
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
		_, err := git{bin: bin, dir: dir}.run(ctx, "status")
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
	// Until somebody waits for it, it is there as a zombie.
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

// isZombie reports whether a process has ended and nobody has waited for it.
func isZombie(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}
