package server_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/cgroup"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// hog holds more and more memory until it is killed.
const hog = "exec tail /dev/zero"

// limited returns the launch of a script with limits, in a group of this test alone.
func limited(t *testing.T, script string, l swarm.Limits) rundir.Launch {
	t.Helper()
	machinetest.ControlGroups(t)
	out := launch(script)
	out.ID = fmt.Sprintf("limited-%d-%d", os.Getpid(), time.Now().UnixNano())
	out.Limits, out.Group = l, cgroup.ParentName(t.TempDir())
	t.Cleanup(func() {
		for _, dir := range cgroup.Look().Dirs(out.Group, out.ID) {
			if _, err := os.Lstat(dir); err == nil {
				t.Errorf("the group %s is left", dir)
			}
		}
	})
	return out
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := start(t, limited(t, hog, swarm.Limits{Memory: 32 << 20}), options{})
	st := s.end()
	if st.Cause != swarm.CauseOutOfMemory || st.Signal != "SIGKILL" || st.Reason != "limit 32 MiB, peak 32 MiB" || st.Forced {
		t.Errorf("ended as %+v", st)
	}
	if st.Used.Peak < 16<<20 || st.Used.Peak > 32<<20 {
		t.Errorf("peak %d", st.Used.Peak)
	}
}

// TestChildOutOfMemory checks that the end of a child is not the cause of the worker's.
func TestChildOutOfMemory(t *testing.T) {
	t.Parallel()
	s := start(t, limited(t, "(exec tail /dev/zero); echo child $?; exit 3", swarm.Limits{Memory: 32 << 20}), options{})
	st := s.end()
	if st.Cause != swarm.CauseExited || st.Code != 3 || !strings.Contains(st.Reason, "out of memory (limit 32 MiB, peak 32 MiB)") {
		t.Errorf("ended as %+v", st)
	}
	if got := s.text("stdout"); got != "child 137\n" {
		t.Errorf("wrote %q", got)
	}
}

func TestRestartAfterOutOfMemory(t *testing.T) {
	t.Parallel()
	l := limited(t, "[ -e once ] && exit 0; touch once; "+hog, swarm.Limits{Memory: 32 << 20})
	l.Restart = restartLaunch("on-failure", "").Restart
	if st := start(t, l, options{}).end(); st.Restarts != 1 || st.Cause != swarm.CauseExited || st.Code != 0 {
		t.Errorf("ended as %+v", st)
	}
}

func TestForkBomb(t *testing.T) {
	t.Parallel()
	l := limited(t, "bomb() { bomb | bomb & wait; }; echo ready; bomb 2>/dev/null; sleep 600", swarm.Limits{PIDs: 32, CPUs: 0.5})
	s := start(t, l, options{})
	s.says("ready")
	if a := s.kill("SIGTERM", 100*time.Millisecond, true); a.Kind != rundir.AnswerEnded {
		t.Errorf("killed: %+v", a)
	}
	s.end()
	s.wantNothingLeft()
}

func TestLimitedCPUs(t *testing.T) {
	t.Parallel()
	s := start(t, limited(t, "while :; do :; done", swarm.Limits{CPUs: 0.1}), options{})
	time.Sleep(time.Second)
	s.kill("SIGKILL", 0, true)
	if st := s.end(); st.Used.CPUNS > int64(500*time.Millisecond) {
		t.Errorf("used %v in a second", time.Duration(st.Used.CPUNS))
	}
}

func TestNice(t *testing.T) {
	t.Parallel()
	l := launch("nice; sleep 600")
	l.Limits, l.Group = swarm.Limits{Nice: 19}, "swarm-00000000"
	s := start(t, l, options{})
	s.says("19")
	l.Command = []string{"/no/such/program"}
	if _, said := tryStart(t, l, options{}); !strings.HasPrefix(said, "error ") || !strings.Contains(said, "/no/such/program") {
		t.Errorf("without a program it says %q", said)
	}
}

// TestPause checks that a paused worker does nothing, with and without a group, and that
// it can be killed.
func TestPause(t *testing.T) {
	t.Parallel()
	const count = "i=0; while :; do i=$((i+1)); echo $i > count; done"
	for name, make := range map[string]func(*testing.T) rundir.Launch{
		"group":   func(t *testing.T) rundir.Launch { return limited(t, count+" & "+count, swarm.Limits{PIDs: 100}) },
		"signals": func(*testing.T) rundir.Launch { return launch(count + " & " + count) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, make(t), options{})
			read := func() string { b, _ := os.ReadFile(s.work + "/count"); return string(b) }
			s.until("it counts", func() bool { return read() != "" })
			for range 2 {
				if a := s.ask("pause paused=1"); a[0] != "ok" {
					t.Fatalf("pause: %q", a)
				}
			}
			if !s.status().Paused {
				t.Error("the status does not say that it is paused")
			}
			before := read()
			time.Sleep(50 * time.Millisecond)
			if after := read(); after != before {
				t.Errorf("it counted from %q to %q", before, after)
			}
			if a := s.ask("pause paused=0"); a[0] != "ok" || s.status().Paused {
				t.Fatalf("resume: %q", a)
			}
			s.until("it continues", func() bool { return read() != before && read() != "" })
			s.ask("pause paused=1")
			if a := s.kill("SIGTERM", 5*time.Second, true); a.Kind != rundir.AnswerEnded || a.Forced {
				t.Errorf("kill of a paused worker: %+v", a)
			}
			if st := s.end(); st.Paused || st.Signal != "SIGTERM" {
				t.Errorf("ended as %+v", st)
			}
			s.wantNothingLeft()
		})
	}
}

// TestForcedKillOfPaused checks that SIGKILL ends a frozen worker too.
func TestForcedKillOfPaused(t *testing.T) {
	t.Parallel()
	s := start(t, limited(t, "trap '' TERM; sleep 600 & echo ready; wait; sleep 600", swarm.Limits{PIDs: 100}), options{})
	s.says("ready")
	s.ask("pause paused=1")
	if a := s.kill("SIGKILL", 0, true); a.Kind != rundir.AnswerEnded {
		t.Errorf("killed: %+v", a)
	}
	s.end()
	s.wantNothingLeft()
}

func TestSetLimits(t *testing.T) {
	t.Parallel()
	s := start(t, limited(t, "echo ready; sleep 600", swarm.Limits{Memory: 1 << 30}), options{})
	s.says("ready")
	if a := s.ask("limits limits=33554432,500,100,5,0,0"); a[0] != "ok" {
		t.Fatalf("limits: %q", a)
	}
	if got, err := unix.Getpriority(unix.PRIO_PROCESS, s.status().Main.PID); err != nil || 20-got != 5 {
		t.Errorf("nice value %d, %v", 20-got, err)
	}
	s.kill("SIGTERM", time.Second, true)
	s.end()
	plain := start(t, launch("sleep 600"), options{})
	if a := plain.ask("limits limits=33554432,0,0,0,0,0"); !strings.HasPrefix(a[0], "error the worker was started without limits") {
		t.Errorf("limits of a worker without a group: %q", a)
	}
}
