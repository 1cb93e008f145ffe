package launch

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// clock is a clock of a set that a test can put forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

func newSetWithClock(t *testing.T) (*Set, *clock) {
	t.Helper()
	s, c := newSet(t), &clock{}
	s.now = c.now
	return s, c
}

// die kills the plugin of a client and waits until the set can know.
func die(t *testing.T, s *Set, c *client.Client) {
	t.Helper()
	sl := s.holder(c)
	if err := syscall.Kill(pid(t, s, c), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-sl.proc.proc.exited
}

// A host that lives long starts a plugin again that was killed, though nothing was
// asked of it when it died. A plugin that dies again and again is left alone for a
// while.
func TestGetReplacesADeadPlugin(t *testing.T) {
	t.Parallel()
	s, clock := newSetWithClock(t)
	e := entry("serve")
	first := get(t, s, e)
	die(t, s, first)
	second := get(t, s, e)
	if second == first {
		t.Fatal("Get returned the client of a dead plugin")
	}
	if st, err := second.Backend().Status(t.Context(), swarm.Handle{Version: 1}); err != nil || st.PID != pid(t, s, second) {
		t.Errorf("Status = %+v, %v", st, err)
	}

	// 1 s, 2 s, 4 s, … 30 s, 30 s
	c := second
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		die(t, s, c)
		_, err := s.Get(t.Context(), e)
		if crash, ok := errors.AsType[*CrashError](err); !ok || !crash.Serving || crash.State != "signal: killed" {
			t.Fatalf("Get within the back-off = %v", err)
		}
		clock.forward(wait*time.Second - 500*time.Millisecond)
		if _, again := s.Get(t.Context(), e); again == nil {
			t.Fatalf("started again before %d s had passed", wait)
		}
		clock.forward(500 * time.Millisecond)
		c = get(t, s, e)
	}
	// Once it has run for a while, it is started at once.
	clock.forward(steady)
	die(t, s, c)
	get(t, s, e)
}

// Restart does not wait: its caller saw the crash, and asks once.
func TestRestartDoesNotBackOff(t *testing.T) {
	t.Parallel()
	s, _ := newSetWithClock(t)
	e := entry("serve")
	c := get(t, s, e)
	for range 2 * keptOld {
		die(t, s, c)
		next, err := s.Restart(t.Context(), e, c)
		if err != nil || next == c {
			t.Fatalf("Restart = %p of %p, %v", next, c, err)
		}
		if died := s.Died(t.Context(), c); died == nil {
			t.Error("the set does not know any more how the last process ended")
		}
		c = next
	}
	eventually(t, "the oldest processes are forgotten", bound, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.old) <= keptOld
	})
}

// A failed start is remembered for a while and not permanently.
func TestFailedStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, clock := newSetWithClock(t)
	dir := t.TempDir()
	works, starts := filepath.Join(dir, "works"), filepath.Join(dir, "starts")
	e := script(t, "echo x >> "+starts+"; test -e "+works+" && exec "+testPlugin+" serve; echo broken >&2; exit 3")
	started := func() int {
		text, err := os.ReadFile(starts)
		if err != nil {
			t.Fatal(err)
		}
		return len(text) / len("x\n")
	}
	for i, wait := range []time.Duration{1, 2, 4} {
		for range 3 {
			_, err := s.Get(t.Context(), e)
			if crash, ok := errors.AsType[*CrashError](err); !ok || crash.Serving {
				t.Fatalf("Get = %v", err)
			}
		}
		if got := started(); got != i+1 {
			t.Fatalf("%d starts, want %d", got, i+1)
		}
		clock.forward(wait * time.Second)
	}
	if err := os.WriteFile(works, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := get(t, s, e)
	if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1}); err != nil {
		t.Error(err)
	}
}

// A start that took long to fail is not tried again for as long.
func TestSlowFailedStart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	sl := &slot{began: now, failed: now.Add(10 * time.Second)}
	if got := sl.again(1); got != 10*time.Second {
		t.Errorf("again = %v", got)
	}
}

// A plugin that closed its socket and lives on is useless either.
func TestGetReplacesADeafPlugin(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := catalog.Entry{Name: "test", Command: []string{testPlugin, "deaf"}}
	c := get(t, s, e)
	old := pid(t, s, c)
	_, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("deaf")})
	if !errors.Is(err, client.ErrPluginGone) {
		t.Fatalf("Status = %v", err)
	}
	if died := s.Died(t.Context(), c); died != nil {
		t.Fatalf("Died = %v: the test proves nothing", died)
	}
	next := get(t, s, e)
	if _, err := next.Backend().Status(t.Context(), swarm.Handle{Version: 1}); err != nil {
		t.Errorf("Status of the next process: %v", err)
	}
	eventually(t, "the old process is gone", bound, func() bool { return !alive(old) })
}
