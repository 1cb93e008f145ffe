package server_test

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// boxed returns the launch of a script in a sandbox.
func boxed(t *testing.T, script string) rundir.Launch {
	t.Helper()
	machinetest.Bubblewrap(t)
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	l := launch(script)
	l.Dir = t.TempDir()
	l.Wrap = []string{
		bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--as-pid-1", "--cap-drop", "ALL",
		rundir.WrapHide, "/no/such/directory", "--bind", l.Dir, l.Dir, "--chdir", l.Dir,
	}
	return l
}

func TestSandboxedEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		code         int
		signal       string
	}{
		{"code", "exit 3", 3, ""},
		{"signal", "kill -USR1 $$", -1, "SIGUSR1"},
		{"killed", "kill -KILL $$", -1, "SIGKILL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, boxed(t, c.script), options{})
			if st := s.end(); st.Code != c.code || st.Signal != c.signal || st.Cause != swarm.CauseExited || st.Forced {
				t.Errorf("ended as %+v", st)
			}
			s.wantNothingLeft()
		})
	}
}

// TestSandboxedTree checks that the processes that outlive the main process are ended as
// without a sandbox, and that a kill reaches those that left it.
func TestSandboxedTree(t *testing.T) {
	t.Parallel()
	t.Run("leftover", func(t *testing.T) {
		t.Parallel()
		s := start(t, boxed(t, "(trap 'echo asked; exit' TERM; echo ready; sleep 600 & wait) & sleep 0.2; exit 4"), options{})
		st := s.end()
		if st.Code != 4 || st.Forced {
			t.Errorf("ended as %+v", st)
		}
		if got := s.text("stdout"); got != "ready\nasked\n" {
			t.Errorf("wrote %q", got)
		}
		s.wantNothingLeft()
	})
	t.Run("grace", func(t *testing.T) {
		t.Parallel()
		s := start(t, boxed(t, "trap 'sleep 0.2; echo saved; exit 7' TERM; echo ready; while :; do sleep 0.05; done"), options{})
		s.says("ready")
		if a := s.kill("SIGTERM", 10*time.Second, true); a.Kind != rundir.AnswerEnded || a.Forced {
			t.Errorf("killed: %+v", a)
		}
		if st := s.end(); st.Code != 7 || st.Cause != swarm.CauseKilled {
			t.Errorf("ended as %+v", st)
		}
		s.wantNothingLeft()
	})
	t.Run("double fork", func(t *testing.T) {
		t.Parallel()
		s := start(t, boxed(t, "trap '' TERM; for i in 1 2 3; do (setsid sh -c 'trap \"\" TERM; sleep 600 & sleep 600' &); done; echo ready; sleep 600; sleep 600"), options{})
		s.says("ready")
		if a := s.kill("SIGTERM", 100*time.Millisecond, true); a.Kind != rundir.AnswerEnded || !a.Forced {
			t.Errorf("killed: %+v", a)
		}
		s.end()
		s.wantNothingLeft()
	})
	t.Run("restart", func(t *testing.T) {
		t.Parallel()
		l := boxed(t, "[ -e once ] && exit 0; touch once; exit 5")
		l.Restart = restartLaunch("on-failure", "").Restart
		if st := start(t, l, options{}).end(); st.Restarts != 1 || st.Code != 0 || st.Cause != swarm.CauseExited {
			t.Errorf("ended as %+v", st)
		}
	})
}

// TestNoSandbox checks that nothing starts without its sandbox.
func TestNoSandbox(t *testing.T) {
	t.Parallel()
	l := boxed(t, "touch started")
	plain := l.Wrap
	for _, c := range []struct {
		wrap, command []string
		want          string
	}{
		{append([]string{"/no/such/bwrap"}, plain[1:]...), nil, rundir.NoSandbox},
		{append(append([]string{}, plain...), "--bind", "/no/such/file", "/tmp"), nil, "/no/such/file"},
		{plain, []string{"no-such-command"}, "command not found: no-such-command (in the sandbox)"},
		{plain, []string{"/etc/passwd"}, "permission denied: /etc/passwd"},
	} {
		l.Wrap = c.wrap
		if c.command != nil {
			l.Command = c.command
		}
		if _, said := tryStart(t, l, options{}); !strings.HasPrefix(said, "error ") || !strings.Contains(said, c.want) {
			t.Errorf("%q: it says %q", c.want, said)
		}
	}
	if _, err := os.Stat(l.Dir + "/started"); err == nil {
		t.Error("the worker ran")
	}
}

// TestInsideIsSafe checks that a worker does not get at the first process of its sandbox.
func TestInsideIsSafe(t *testing.T) {
	t.Parallel()
	s := start(t, boxed(t, "for f in exe fd/6 root/etc mem; do ( : < /proc/1/$f ) 2>/dev/null && echo read $f; ( : >> /proc/1/$f ) 2>/dev/null && echo written $f; done; ls /proc/self/fd | wc -l"), options{})
	s.end()
	if got := strings.TrimSpace(s.text("stdout")); got != "4" {
		t.Errorf("it says %q", got)
	}
}

// TestSandboxedEndAtAKill checks that a main process which ends by itself right before a kill
// by force is recorded with that end: the kill does not take away the process that reports it.
func TestSandboxedEndAtAKill(t *testing.T) {
	t.Parallel()
	const stubborn = "(trap '' TERM TSTP; touch set; sleep 600; sleep 600) & until [ -e set ]; do sleep 0.01; done;"
	for _, c := range []struct {
		name, others, signal string
		grace                time.Duration
		forced               bool
	}{
		// The signal that stops processes is the one after which a kill lets none continue.
		{"alone", "", "SIGTSTP", 0, false},
		{"with others", stubborn, "SIGTSTP", 0, true},
		{"at once", stubborn, "SIGKILL", limit, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, boxed(t, c.others+` trap 'echo asked; while [ ! -e go ]; do sleep 0.01; done; exit 7' TERM; echo ready; while :; do sleep 0.01; done`), options{})
			s.says("ready")
			first := s.send(killLine("SIGTERM", limit, false))
			s.says("asked")
			s.ask(rundir.Request{Verb: rundir.VerbPause}.String()) // all signals are sent by then
			children, err := proc.Children(s.cmd.Process.Pid)
			must(t, err)
			if len(children) != 1 {
				t.Fatalf("%+v", children)
			}
			s.until("the first process has stopped", func() bool {
				// The shim lets it continue whenever it looks at the tree.
				must(t, children[0].Signal(unix.SIGSTOP))
				p, err := proc.Read(children[0].PID)
				return err == nil && p.State == 'T'
			})
			main := s.status().Main
			must(t, os.WriteFile("/proc/"+strconv.Itoa(main.PID)+"/cwd/go", nil, 0o600))
			s.until("the main process has ended", func() bool {
				p, err := proc.Read(main.PID)
				return err == nil && p.Ended
			})
			if a := s.kill(c.signal, c.grace, true); a.Kind != rundir.AnswerEnded || a.Forced != c.forced {
				t.Errorf("killed: %+v", a)
			}
			if st := s.end(); st.Code != 7 || st.Signal != "" || st.Cause != swarm.CauseKilled || st.Forced != c.forced {
				t.Errorf("ended as %+v", st)
			}
			s.wantNothingLeft()
			_, _ = io.ReadAll(first)
		})
	}
}

// TestSandboxedForks checks that a kill proves the end of processes that never stand still.
func TestSandboxedForks(t *testing.T) {
	t.Parallel()
	for _, signal := range []string{"SIGKILL", "SIGTERM"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			// Each hop leaves its session and ends, and the first process inherits the next one.
			s := start(t, boxed(t, `trap '' TERM; echo 'trap "" TERM; echo >> hops; setsid sh ./hop & exit' > hop
for i in 1 2 3 4; do sh ./hop; done; until [ $(wc -l < hops) -gt 50 ]; do sleep 0.01; done; echo ready; sleep 600; sleep 600`), options{})
			s.says("ready")
			if a := s.kill(signal, 0, true); a.Kind != rundir.AnswerEnded {
				t.Errorf("killed: %+v", a)
			}
			if st := s.end(); st.Signal != "SIGKILL" || st.Cause != swarm.CauseKilled {
				t.Errorf("ended as %+v", st)
			}
			s.wantNothingLeft()
		})
	}
}
