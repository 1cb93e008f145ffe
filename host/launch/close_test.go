package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// bound is what Close may take on a busy machine; the promise is askTime and a
// little.
const bound = 2 * time.Second

func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(bound):
		t.Fatalf("%s takes more than %v", what, bound)
	}
}

func TestCloseOfAStoppedPlugin(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	c := get(t, s, entry("serve"))
	if err := syscall.Kill(pid(t, s, c), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all its threads have stopped", 10*time.Second, func() bool { return stopped(pid(t, s, c)) })
	// A call was given up, so that Close asks it to leave.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Backend().Status(ctx, swarm.Handle{Version: 1}); err == nil {
		t.Fatal("a stopped plugin answers")
	}
	within(t, "Close", s.Close)
}

func TestCloseOfAPluginThatStays(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	if _, err := s.Get(t.Context(), entry("stays")); err == nil {
		t.Fatal("connected to a plugin of a newer contract")
	}
	within(t, "Close", s.Close)
}

func TestPluginThatNeverServedGoesWithItsChildren(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.StartTimeout = 300 * time.Millisecond
	for _, ending := range []string{"echo hello; wait", "wait"} {
		s := New(o)
		t.Cleanup(s.Close)
		file := filepath.Join(t.TempDir(), "pid")
		if _, err := s.Get(t.Context(), script(t, "sleep 60 & echo $! > "+file+"; "+ending)); err == nil {
			t.Fatal("no error")
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		child, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the child is gone", bound, func() bool { return !alive(child) })
	}
}

func TestCloseWhileStarting(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	failed := make(chan error, 1)
	go func() {
		_, err := s.Get(t.Context(), entry("hangs"))
		failed <- err
	}()
	eventually(t, "the plugin is being started", bound, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.slots) == 1
	})
	within(t, "Close", s.Close)
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("Get = %v", err)
	}
}

func TestCloseLetsAPluginUndo(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	mark := filepath.Join(t.TempDir(), "mark")
	c := get(t, s, entry("serve", mark))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Backend().Kill(ctx, swarm.Handle{Version: 1}, swarm.KillOptions{}); err == nil {
		t.Fatal("Kill returned without error")
	}
	s.Close()
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the plugin was killed in the middle of its undo: %v", err)
	}
}

// Not parallel: it counts what the whole process has.
func TestNothingLeaks(t *testing.T) {
	cycle := func() {
		s := New(options(t))
		defer s.Close()
		get(t, s, entry("serve"))
		for _, mode := range []string{"exits", "garbage"} {
			if _, err := s.Get(t.Context(), entry(mode)); err == nil {
				t.Fatalf("a plugin that %s can be used", mode)
			}
		}
	}
	cycle() // what stays without end, such as the poller, is there after the first
	files, routines := descriptors(t), runtime.NumGoroutine()
	for range 5 {
		cycle()
	}
	eventually(t, "descriptors are closed", bound, func() bool { return descriptors(t) <= files })
	eventually(t, "goroutines have ended", bound, func() bool { return runtime.NumGoroutine() <= routines })
}

func descriptors(t *testing.T) int {
	t.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if fds, err := os.ReadDir(dir); err == nil {
			return len(fds)
		}
	}
	t.Fatal("no directory of open descriptors")
	return 0
}

// TestCloseReaps ends a plugin and one that was replaced: both are gone when Close returns, with
// their files.
func TestCloseReaps(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	c := get(t, s, entry("serve"))
	gone := get(t, s, entry("serve", "gone"))
	plugin, replaced := pid(t, s, c), pid(t, s, gone)
	if _, err := s.Restart(t.Context(), entry("serve", "gone"), gone); err != nil {
		t.Fatal(err)
	}
	sockets, err := s.socketDir()
	if err != nil {
		t.Fatal(err)
	}
	within(t, "Close", s.Close)
	for _, pid := range []int{plugin, replaced} {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("plugin %d is there, or a zombie: %v", pid, err)
		}
	}
	if dirs := left(t, sockets); len(dirs) > 0 {
		t.Errorf("left: %v", dirs)
	}
}

// A plugin that the system can't end does not keep a command from ending.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	p := &child{proc: newProcess([]string{"none"}, nil)}
	within(t, "close", p.close)
}
