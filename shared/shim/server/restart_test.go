//go:build linux

package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// restartLaunch is a launch with a policy whose times are short.
func restartLaunch(when swarm.RestartWhen, script string) rundir.Launch {
	l := launch(script)
	l.Restart = swarm.Restart{When: when, MinDelay: 10 * time.Millisecond, MaxDelay: 40 * time.Millisecond, Budget: 3, Window: time.Minute}
	return l
}

func TestRestartPolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		when     swarm.RestartWhen
		script   string
		code     int
		signal   string
		cause    swarm.Cause
		restarts int
	}{
		{"never", "", "exit 3", 3, "", "exited", 0},
		{"on failure, success", "on-failure", "exit 0", 0, "", "exited", 0},
		{"on failure, once", "on-failure", `[ -e once ] && exit 0; touch once; exit 3`, 0, "", "exited", 1},
		{"on failure, loop", "on-failure", "exit 3", 3, "", "crash-loop", 3},
		{"on failure, signal", "on-failure", "kill -SEGV $$", -1, "SIGSEGV", "crash-loop", 3},
		{"always, loop", "always", "exit 0", 0, "", "crash-loop", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, restartLaunch(tt.when, "echo hello; "+tt.script), options{})
			st := s.end()
			if st.Code != tt.code || st.Signal != tt.signal || st.Cause != tt.cause || st.Restarts != tt.restarts {
				t.Errorf("status %+v", st)
			}
			if got := strings.Count(s.text("stdout"), "hello\n"); got != tt.restarts+1 {
				t.Errorf("ran %d times", got)
			}
			if len(st.LastRestarts) != tt.restarts {
				t.Errorf("restarts %+v", st.LastRestarts)
			}
			if tt.cause == "crash-loop" && st.Reason != "restarted 3 times within 60s" {
				t.Errorf("reason %q", st.Reason)
			}
		})
	}
}

// The memory of a start is freed with it.
func TestManyRestartsInLittleMemory(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", `echo x >> n; [ $(wc -l < n) = 150 ] || exit 0; echo done; exec sleep 999`)
	l.Restart.Budget, l.Restart.MinDelay, l.Restart.MaxDelay = 1000, 1*time.Millisecond, 1*time.Millisecond
	s := start(t, l, options{})
	s.says("done")
	if rss := s.resident(); rss > 5<<19 {
		t.Errorf("the shim takes %d bytes", rss)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}

// The record of restarts is bounded, and reports how each main process before ended.
func TestRestartsAreRecorded(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo $$ > pid; [ $n = 14 ] && exec sleep 999; exit $n`)
	l.Restart.Budget, l.Restart.MaxDelay, l.Restart.MinDelay = 20, 1*time.Millisecond, 1*time.Millisecond
	s := start(t, l, options{})
	var st rundir.Status
	s.until("it was started 13 times again", func() bool {
		st = s.status()
		return st.Restarts == 13
	})
	if len(st.LastRestarts) != 10 || st.LastRestarts[0].Number != 4 {
		t.Errorf("restarts %+v", st.LastRestarts)
	}
	last := time.Time{}
	for _, r := range st.LastRestarts {
		at := time.Unix(0, r.TimeNS)
		if r.Code != r.Number || r.Signal != "" || at.Before(last) {
			t.Errorf("restart %+v after %v", r, last)
		}
		last = at
	}
	if !st.Main.Alive() || st.StartedNS != last.UnixNano() || st.EndedNS != 0 || st.Cause != "" || st.Reason != "" {
		t.Errorf("status %+v", st)
	}
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.Cause != "killed" || st.Restarts != 13 || st.Signal != "SIGTERM" {
		t.Errorf("status %+v", st)
	}
}

// Between two starts the worker has no process, and says when it comes again.
func TestKillDuringBackOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		end   func(*shim)
		cause swarm.Cause
	}{
		{"kill", func(s *shim) {
			if a := s.kill("SIGTERM", limit, true); a.Kind != rundir.AnswerEnded || a.Forced || a.Already {
				s.t.Errorf("answer %+v", a)
			}
		}, "killed"},
		{"SIGKILL", func(s *shim) { s.kill("SIGKILL", limit, true) }, "killed"},
		{"no force", func(s *shim) { s.kill("SIGTERM", 0, false) }, "killed"},
		{"complete", func(s *shim) {
			if got := s.ask(completeLine("done", 0)); got[0] != "ok" {
				s.t.Errorf("answer %q", got)
			}
		}, "completed"},
		{"shutdown", func(s *shim) { must(s.t, s.cmd.Process.Signal(os.Interrupt)) }, "shutdown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := restartLaunch("on-failure", "exit 4")
			l.Restart.MinDelay, l.Restart.MaxDelay = 600_000*time.Millisecond, 600_000*time.Millisecond
			s := start(t, l, options{})
			var st rundir.Status
			s.until("it pauses", func() bool {
				st = s.status()
				return st.Reason != ""
			})
			if st.State != rundir.StateRunning || st.Main.PID != 0 || st.Session != 0 ||
				!strings.HasPrefix(st.Reason, "restarting in ") || !strings.HasSuffix(st.Reason, "s (exit status 4)") {
				t.Errorf("status %+v", st)
			}
			if got := s.ask("signal signal=SIGHUP mode=tree"); got[0] != "busy the worker is between two starts" {
				t.Errorf("answer to a signal: %q", got)
			}
			if got := s.input("x", false); got != "busy the worker is between two starts" {
				t.Errorf("answer to input: %q", got)
			}
			before := time.Now()
			tt.end(s)
			st = s.end()
			if st.Cause != tt.cause || st.Code != 4 || st.Restarts != 0 || st.EndedNS < before.UnixNano() || st.Forced {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// Delays double up to the longest, give or take a fifth.
func TestBackOff(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", "exit 1")
	l.Restart.MinDelay, l.Restart.MaxDelay, l.Restart.Budget = 50*time.Millisecond, 400*time.Millisecond, 6
	st := start(t, l, options{}).end()
	if len(st.LastRestarts) != 6 {
		t.Fatalf("restarts %+v", st.LastRestarts)
	}
	for i, r := range st.LastRestarts[1:] {
		delay := time.Duration(r.TimeNS - st.LastRestarts[i].TimeNS)
		least := min(50*time.Millisecond<<(i+1), 400*time.Millisecond) * 4 / 5
		if delay < least {
			t.Errorf("restart %d after %v, which is less than %v", r.Number, delay, least)
		}
	}
}

// The budget is that of the window, and a run that is longer than the window
// begins anew.
func TestLongRunsAreNoCrashLoop(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", "sleep 0.15; exit 1")
	l.Restart = swarm.Restart{When: "always", MinDelay: 100 * time.Millisecond, MaxDelay: 10 * time.Minute, Budget: 2, Window: 100 * time.Millisecond}
	s := start(t, l, options{})
	s.until("it was started 8 times again", func() bool { return s.status().Restarts >= 8 })
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.Cause != "killed" {
		t.Errorf("status %+v", st)
	}
}

// A kill ends a worker for good, whatever its policy.
func TestKillEndsRestarts(t *testing.T) {
	t.Parallel()
	s := start(t, restartLaunch("always", "echo ready; exec sleep 999"), options{})
	s.says("ready")
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.Cause != "killed" || st.Restarts != 0 {
		t.Errorf("status %+v", st)
	}
}

// A kill that gave up has changed nothing: the next end is the worker's own.
func TestRestartAfterKillThatGaveUp(t *testing.T) {
	t.Parallel()
	s := start(t, restartLaunch("on-failure", `[ -e once ] && exec sleep 999; touch once; trap "" TERM; echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 1`), options{})
	s.says("ready")
	if a := s.kill("SIGTERM", 10*time.Millisecond, false); a.Kind != rundir.AnswerSurvivors {
		t.Errorf("answer %+v", a)
	}
	must(t, os.WriteFile(filepath.Join(s.work, "go"), nil, 0o600))
	s.until("it was started again", func() bool { return s.status().Restarts == 1 })
	s.kill("SIGTERM", limit, true)
	s.end()
}

// The processes that a main process leaves behind are gone before the next one starts.
func TestLeftoverEndsBeforeRestart(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]string{
		"background": `sleep 998 &`,
		"daemon":     `setsid -f sleep 998; sleep 0.1`,
		"stubborn":   `(trap "" TERM; echo set > trapped; while :; do sleep 0.1; done) & while [ ! -e trapped ]; do sleep 0.02; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := restartLaunch("on-failure", `[ -e once ] && { echo again; exec sleep 999; }; touch once; `+leave+`
exit 1`)
			l.GraceMS = 200
			s := start(t, l, options{})
			s.says("again")
			var main proc.Identity
			s.until("the restart is recorded", func() bool {
				main = s.status().Main
				return s.status().Restarts == 1
			})
			left := s.left()
			if len(left) != 1 || left[0].Identity != main {
				t.Errorf("there are %+v, and not %+v", left, main)
			}
			s.kill("SIGTERM", limit, true)
			if st := s.end(); st.Forced {
				t.Errorf("the end was not forced: %+v", st)
			}
		})
	}
}

// A command that can't be started any more uses the budget up like any failure.
func TestRestartOfWhatIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, restartLaunch("always", ""), options{content: nil, dir: t.TempDir()})
	_ = s.end()
	dir := t.TempDir()
	tool := filepath.Join(dir, "tool")
	must(t, buildtest.Write(tool, []byte("#!/bin/sh\nrm $0\nexit 5\n"), 0o700))
	l := restartLaunch("always", "")
	l.Command = []string{tool}
	s = start(t, l, options{})
	st := s.end()
	if st.Cause != "crash-loop" || st.Code != 5 || st.Restarts != 0 || st.Reason != "restarted 3 times within 60s; command not found: "+tool {
		t.Errorf("status %+v", st)
	}
}

// Ten that crash at once keep to the budget, and cost nothing afterwards.
func TestCrashLoops(t *testing.T) {
	t.Parallel()
	var all []*shim
	for range 10 {
		l := restartLaunch("on-failure", "echo run; exit 1")
		l.Restart.Budget, l.Restart.MinDelay, l.Restart.MaxDelay = 5, 5*time.Millisecond, 20*time.Millisecond
		all = append(all, start(t, l, options{}))
	}
	for _, s := range all {
		if st := s.end(); st.Cause != "crash-loop" || st.Restarts != 5 || st.Code != 1 {
			t.Errorf("status %+v", st)
		}
		if got := strings.Count(s.text("stdout"), "run\n"); got != 6 {
			t.Errorf("ran %d times", got)
		}
	}
}

// A shim that waits for the next start does nothing.
func TestBackOffIsIdle(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", "exit 1")
	l.Restart.MinDelay, l.Restart.MaxDelay = 600_000*time.Millisecond, 600_000*time.Millisecond
	s := start(t, l, options{})
	s.until("it pauses", func() bool { return s.status().Reason != "" })
	switches := func() int {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
		must(t, err)
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				v, err := strconv.Atoi(strings.TrimSpace(n))
				must(t, err)
				return v
			}
		}
		return 0
	}
	before := switches()
	<-time.After(500 * time.Millisecond)
	if after := switches(); after > before+20 {
		t.Errorf("the shim woke up %d times in half a second", after-before)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}

// The next one on a terminal finds it as the first one did.
func TestRestartOnTerminal(t *testing.T) {
	t.Parallel()
	l := restartLaunch("on-failure", "")
	l.Command = []string{"bash", "-c", `if [ -e once ]; then exec env PS1='$ ' bash --norc --noprofile -i; fi
touch once; stty raw -echo; printf '\033[?2004h\033[?1003hcrash'; exit 1`}
	l.Env = []string{"HISTFILE=", "HOME=/"}
	w := openWindow(t, l)
	w.shows("crash")
	w.shows("$ ")
	if w.status().Restarts != 1 {
		t.Errorf("status %+v", w.status())
	}
	w.keys("stty -a | grep -c ' icanon'\r")
	w.keys("tty; sleep 997\r")
	w.shows("/dev/pts/")
	w.until("the job has the terminal", func() bool {
		return slices.ContainsFunc(w.left(), func(p proc.Process) bool { return p.Name == "sleep" })
	})
	w.keys("\x1a")
	w.shows("Stopped")
	w.keys("fg\r")
	w.until("the job runs", func() bool {
		return slices.ContainsFunc(w.left(), func(p proc.Process) bool { return p.Name == "sleep" && p.State != 'T' })
	})
	w.keys("\x03")
	w.until("the job ended", func() bool { return len(w.left()) == 1 })
	w.keys("echo code $?; exit 0\r")
	w.shows("code 130\r\n")
	if st := w.end(); st.Code != 0 || st.Cause != "exited" || st.Restarts != 1 {
		t.Errorf("status %+v", st)
	}
}

// A window that is closed ends the worker, not only this run of it.
func TestHangupEndsRestarts(t *testing.T) {
	t.Parallel()
	w := openWindow(t, restartLaunch("always", "echo ready; exec sleep 999"))
	w.shows("ready")
	w.pane.Close()
	must(t, w.master.Close())
	if st := w.end(); st.Cause != "hangup" || st.Restarts != 0 {
		t.Errorf("status %+v", st)
	}
}

func TestHangupDuringBackOff(t *testing.T) {
	t.Parallel()
	l := restartLaunch("always", "exit 4")
	l.Restart.MinDelay, l.Restart.MaxDelay = 600_000*time.Millisecond, 600_000*time.Millisecond
	w := openWindow(t, l)
	w.until("it pauses", func() bool { return w.status().Reason != "" })
	w.pane.Close()
	must(t, w.master.Close())
	if st := w.end(); st.Cause != "hangup" || st.Code != 4 || st.Restarts != 0 {
		t.Errorf("status %+v", st)
	}
}
