package server_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// execCommand returns the program that runs a script in the worker of a shim.
func (s *shim) execCommand(e rundir.Exec, script string) *exec.Cmd {
	s.t.Helper()
	e.Command = []string{"sh", "-c", script}
	args, err := rundir.ExecArgs(s.dir, s.status().ID, e)
	must(s.t, err)
	return exec.Command(shimPath, args...)
}

// exec runs a script in the worker of a shim, and returns what it wrote and its exit code.
func (s *shim) exec(e rundir.Exec, script string) (stdout string, code int) {
	s.t.Helper()
	cmd := s.execCommand(e, script)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errs.Len() > 0 {
		s.t.Logf("stderr: %s", &errs)
	}
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// worlds are the workers that a command is run in.
var worlds = map[string]func(*testing.T, string) rundir.Launch{
	"plain":   func(_ *testing.T, script string) rundir.Launch { return launch(script) },
	"sandbox": boxed,
	"nice": func(_ *testing.T, script string) rundir.Launch {
		l := launch(script)
		l.Limits = swarm.Limits{Nice: 13}
		return l
	},
}

// inWorlds runs a test with each of them.
func inWorlds(t *testing.T, test func(t *testing.T, launch func(script string) rundir.Launch)) {
	t.Helper()
	for name, make := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(script string) rundir.Launch { return make(t, script) })
		})
	}
}

// TestExec checks that a command has what the worker has, and that its end is passed on.
func TestExec(t *testing.T) {
	t.Parallel()
	inWorlds(t, func(t *testing.T, launch func(string) rundir.Launch) {
		l := launch("export LATER=1; echo ready; exec sleep 600")
		l.Env = []string{"OWN=1", "SAME=worker", "DISPLAY=:7"}
		s := start(t, l, options{})
		s.says("ready")
		dir := s.status().Dir
		must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		const show = `pwd; echo "$OWN $SAME $LATER $MORE"; nice; readlink /proc/self/ns/mnt /proc/self/ns/pid; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads`
		got, code := s.exec(rundir.Exec{Env: []string{"SAME=command", "MORE=m"}}, show+"; exit 7")
		if code != 7 {
			t.Errorf("exit code %d", code)
		}
		ns := func(kind string) string {
			// Only the kernel knows both sides.
			to, err := os.Readlink("/proc/" + strconv.Itoa(s.status().Main.PID) + "/ns/" + kind)
			must(t, err)
			return to
		}
		own, err := exec.Command("nice").Output()
		must(t, err)
		nice := strings.TrimSpace(string(own))
		if l.Limits.Nice != 0 {
			nice = strconv.Itoa(l.Limits.Nice)
		}
		want := strings.Join([]string{dir, "1 command  m", nice, ns("mnt"), ns("pid"), "leads", ""}, "\n")
		if got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		if got, _ := s.exec(rundir.Exec{Dir: "sub"}, "pwd"); got != dir+"/sub\n" {
			t.Errorf("in a relative directory: %q", got)
		}
		if got, _ := s.exec(rundir.Exec{Dir: "/tmp"}, "pwd"); got != "/tmp\n" {
			t.Errorf("in an absolute directory: %q", got)
		}
		if _, code := s.exec(rundir.Exec{}, "kill -USR1 $$"); code != 128+int(unix.SIGUSR1) {
			t.Errorf("exit code %d after SIGUSR1", code)
		}
		if _, code := s.exec(rundir.Exec{}, "nosuchcommand"); code != 127 {
			t.Errorf("exit code %d", code)
		}
		cmd := s.execCommand(rundir.Exec{}, "cat; echo e >&2")
		cmd.Stdin = strings.NewReader("hello\n")
		if out, err := cmd.CombinedOutput(); string(out) != "hello\ne\n" || err != nil {
			t.Errorf("with input: %q, %v", out, err)
		}
		if st := s.status(); st.State != rundir.StateRunning || st.Restarts != 0 {
			t.Errorf("the worker: %+v", st)
		}
	})
}

// TestExecRefused checks what is said about commands that can't be started, and about directories.
func TestExecRefused(t *testing.T) {
	t.Parallel()
	inWorlds(t, func(t *testing.T, launch func(string) rundir.Launch) {
		s := start(t, launch("exec sleep 600"), options{})
		for _, c := range []struct {
			e    rundir.Exec
			code int
			want string
		}{
			{rundir.Exec{Command: []string{"no-such-command"}}, 127, "command not found: no-such-command"},
			{rundir.Exec{Command: []string{"/etc/passwd"}}, 126, "permission denied: /etc/passwd"},
			{rundir.Exec{Command: []string{"true"}, Dir: "none"}, 126, "no such directory: "},
		} {
			args, err := rundir.ExecArgs(s.dir, s.status().ID, c.e)
			must(t, err)
			cmd := exec.Command(shimPath, args...)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.HasPrefix(string(out), "swarm: error: cannot exec: "+c.want) {
				t.Errorf("%q: exit code %d, %q", c.e.Command, code, out)
			}
		}
		args, err := rundir.ExecArgs(s.dir, "another", rundir.Exec{Command: []string{"true"}})
		must(t, err)
		if out, _ := exec.Command(shimPath, args...).CombinedOutput(); !strings.Contains(string(out), "is another worker's") {
			t.Errorf("of another worker: %q", out)
		}
		if got := s.ask("pause paused=1"); got[0] != "ok" {
			t.Fatal(got)
		}
		if out, _ := s.execCommand(rundir.Exec{}, "true").CombinedOutput(); !strings.Contains(string(out), "is paused") {
			t.Errorf("of a paused worker: %q", out)
		}
	})
}

// TestExecEndsWithWorker checks that commands end with the worker, however that ends, and do not
// keep it alive.
func TestExecEndsWithWorker(t *testing.T) {
	t.Parallel()
	inWorlds(t, func(t *testing.T, launch func(string) rundir.Launch) {
		for name, c := range map[string]struct {
			script string
			end    func(*shim)
			code   int
		}{
			"kill":   {"exec sleep 600", func(s *shim) { s.kill("SIGTERM", 5*time.Second, true) }, 128 + 15},
			"forced": {"trap '' TERM; sleep 600; sleep 600", func(s *shim) { s.kill("SIGKILL", 0, true) }, 128 + 9},
			"exit":   {"while [ ! -e end ]; do sleep 0.05; done; exit 3", func(s *shim) { must(t, os.WriteFile(filepath.Join(s.status().Dir, "end"), nil, 0o600)) }, 128 + 15},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := start(t, launch(c.script), options{})
				cmd := s.execCommand(rundir.Exec{}, "touch begun; exec sleep 600")
				must(t, cmd.Start())
				s.begun()
				c.end(s)
				_ = cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != c.code {
					t.Errorf("exit code %d, want %d", code, c.code)
				}
				s.end()
				s.wantNothingLeft()
				args, err := rundir.ExecArgs(s.dir, "w1", rundir.Exec{Command: []string{"true"}})
				must(t, err)
				if out, _ := exec.Command(shimPath, args...).CombinedOutput(); !strings.Contains(string(out), "the worker has ended") {
					t.Errorf("after the end: %q", out)
				}
			})
		}
	})
}

// TestExecEndsWithCaller checks that a command and what it has started end with the program that
// runs for it, whatever signals they ignore.
func TestExecEndsWithCaller(t *testing.T) {
	t.Parallel()
	inWorlds(t, func(t *testing.T, launch func(string) rundir.Launch) {
		for _, script := range []string{
			"touch begun; sleep 601 & sleep 601",
			"trap '' TERM; touch begun; sleep 601; sleep 601 & sleep 601",
		} {
			l := launch("exec sleep 600")
			l.GraceMS = 100
			s := start(t, l, options{})
			cmd := s.execCommand(rundir.Exec{}, script)
			must(t, cmd.Start())
			s.begun()
			must(t, cmd.Process.Kill())
			_ = cmd.Wait()
			s.until("only the worker's main process is left", func() bool { return len(s.left()) == 1 })
			if st := s.status(); st.State != rundir.StateRunning {
				t.Errorf("the worker: %+v", st)
			}
			s.kill("SIGTERM", 5*time.Second, true)
			s.end()
		}
	})
}

// begun waits for a command's file.
func (s *shim) begun() {
	s.t.Helper()
	s.until("the command runs", func() bool {
		_, err := os.Lstat(filepath.Join(s.status().Dir, "begun"))
		return err == nil
	})
}
