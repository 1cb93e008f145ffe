package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxThreads is how many threads a shim has, see calls.go. Threads stay until it ends.
const maxThreads = 4

// threadTries is how many shims are tried: one that has waited longer than callLimit for a call, as
// on a busy machine, has a thread more.
const threadTries = 5

// loud writes to both streams without an end, in pieces of a line.
const loud = `while :; do echo out; done & while :; do echo err >&2; done`

// TestThreads checks that no shim has more than a few threads, whatever it does.
func TestThreads(t *testing.T) {
	t.Parallel()
	limited := func(l rundir.Launch) rundir.Launch {
		l.OutputLimit = 64 << 10
		return l
	}
	again := limited(launch("echo out; exit 1"))
	again.Restart = swarm.Restart{
		When: swarm.RestartAlways, MinDelay: time.Millisecond, MaxDelay: 10 * time.Millisecond, Budget: 100_000, Window: time.Minute,
	}
	transcribed := limited(launch(loud))
	transcribed.Transcript = true
	for name, l := range map[string]rundir.Launch{
		"quiet": launch("exec sleep 999"), "loud": limited(launch(loud)), "restarting": again, "transcribed": transcribed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFewThreads(t, func() *shim { return start(t, l, options{}) })
		})
	}
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		wantFewThreads(t, func() *shim { return openWindow(t, limited(launch(loud))).shim })
	})
	t.Run("many processors", func(t *testing.T) {
		t.Parallel()
		var s *shim
		wantFewThreads(t, func() *shim {
			s = start(t, launch("exec sleep 999"), options{env: []string{rundir.OneProcessor + "=16"}})
			return s
		})
		if v, _ := proc.Getenv(s.cmd.Process.Pid, rundir.OneProcessor); v != rundir.OneProcessorValue {
			t.Errorf("the shim runs with %s=%s", rundir.OneProcessor, v)
		}
	})
}

// wantFewThreads fails the test if each of several shims has too many threads.
func wantFewThreads(t *testing.T, start func() *shim) {
	t.Helper()
	var counts []int
	for range threadTries {
		n := start().threadsInUse()
		if 0 < n && n <= maxThreads {
			return
		}
		counts = append(counts, n)
	}
	t.Errorf("the shims have %d threads", counts)
}

// threadsInUse uses a shim for a while, with clients that stay and clients that leave, and returns
// how many threads it has then.
func (s *shim) threadsInUse() int {
	s.t.Helper()
	for range 20 {
		if line, err := s.send("watch").ReadString('\n'); err != nil || line != "ok\n" {
			s.t.Fatalf("watch: %q, %v", line, err)
		}
	}
	for range 200 {
		c := s.dial()
		_, err := c.Write([]byte("watch\n"))
		must(s.t, err)
		must(s.t, c.Close())
		if got := s.ask("nonsense"); !strings.HasPrefix(got[0], "error ") {
			s.t.Fatalf("answer %q", got)
		}
	}
	return len(proc.Threads(s.cmd.Process.Pid))
}

// TestMemory checks how much memory a shim holds after much output, and after many clients.
func TestMemory(t *testing.T) {
	t.Parallel()
	// Pages of the program that shims share count too.
	const most = 3 << 20
	written := launch(`yes "$(printf %0119d)" | head -c 200000000; touch done; exec sleep 999`)
	written.OutputLimit = 1 << 20
	for name, use := range map[string]struct {
		launch rundir.Launch
		then   func(*shim)
	}{
		"output": {written, func(s *shim) {
			s.until("all is written", func() bool {
				_, err := os.Lstat(filepath.Join(s.work, "done"))
				return err == nil
			})
		}},
		"clients": {launch("exec sleep 999"), func(s *shim) {
			for range 300 {
				s.ask("nonsense")
				c := s.dial()
				_, err := c.Write([]byte("watch\n"))
				must(t, err)
				must(t, c.Close())
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, use.launch, options{})
			use.then(s)
			s.until("the shim has given memory back", func() bool { return s.mapped() <= most })
		})
	}
}

// mapped returns the resident memory of the shim with the parts of its program, in bytes.
func (s *shim) mapped() int64 {
	s.t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	must(s.t, err)
	words := strings.Fields(string(b))
	kib, err := strconv.ParseInt(words[slices.Index(words, "VmRSS:")+1], 10, 64)
	must(s.t, err)
	return kib << 10
}
