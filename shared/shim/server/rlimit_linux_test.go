package server_test

import (
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// inShell returns options that start a shim from a shell that has set limits. The shim can't raise
// hard limits: it has no capability outside of a user namespace of its own.
func inShell(t *testing.T, ulimits string) options {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip("there is no unshare")
	}
	if out, err := exec.Command(unshare, "-r", "true").CombinedOutput(); err != nil {
		t.Skipf("there are no user namespaces: %v: %s", err, out)
	}
	return options{prepare: func(cmd *exec.Cmd) {
		cmd.Args = append([]string{unshare, "-r", "sh", "-c", ulimits + ` && exec "$0" "$@"`}, cmd.Args...)
		cmd.Args[5] = cmd.Path
		cmd.Path = unshare
	}}
}

// TestHardTimeLimit checks that a shim ends its worker before the kernel kills the shim at its hard
// limit of CPU time, and that all say so.
func TestHardTimeLimit(t *testing.T) {
	t.Parallel()
	// The output of the worker costs its shim time.
	l := launch(`ulimit -St; ulimit -Ht; trap 'exit 3' TERM; yes | head -c 100000000000 & wait`)
	l.OutputLimit = 64 << 10
	s := start(t, l, inShell(t, "ulimit -St 2 && ulimit -Ht 3"))
	if st := s.status(); !strings.Contains(st.Unenforced, "CPU time of the caller (3s)") {
		t.Errorf("unenforced: %q", st.Unenforced)
	}
	st := s.end()
	if st.Cause != swarm.CauseShutdown || !strings.Contains(st.Reason, "hard limit allows 3s") || st.Code != 3 {
		t.Errorf("status %+v", st)
	}
}

// TestTimeLimitOfWorker checks that the worker has the limits of its caller, and that the signal of
// another process ends nothing.
func TestTimeLimitOfWorker(t *testing.T) {
	t.Parallel()
	s := start(t, launch("ulimit -St; ulimit -Ht; exec sleep 999"), inShell(t, "ulimit -St 900 && ulimit -Ht 1000"))
	s.says("1000")
	if got := s.text("stdout"); got != "900\n1000\n" {
		t.Errorf("the worker has %q", got)
	}
	must(t, unix.Kill(s.cmd.Process.Pid, unix.SIGXCPU))
	if got := s.ask("nonsense"); !strings.HasPrefix(got[0], "error ") {
		t.Errorf("answer %q", got)
	}
	if a := s.kill("SIGTERM", limit, true); a.Kind != rundir.AnswerEnded {
		t.Errorf("answer %+v", a)
	}
	if st := s.end(); st.Cause != swarm.CauseKilled {
		t.Errorf("status %+v", st)
	}
}

// TestHardFileLimit checks that the newest output stays where no file may become as long as those of
// the log usually do.
func TestHardFileLimit(t *testing.T) {
	t.Parallel()
	l := launch(`i=0; while [ $((i=i+1)) -le 20000 ]; do echo "line $i"; done; ulimit -Hf`)
	s := start(t, l, inShell(t, "ulimit -f 100"))
	st := s.end()
	if got := s.text("stdout"); !strings.HasSuffix(got, "line 20000\n100\n") || strings.HasPrefix(got, "line 1\n") {
		t.Errorf("%d bytes, the last are %.50q", len(got), got[max(0, len(got)-50):])
	}
	if st.DroppedLines == 0 {
		t.Errorf("status %+v", st)
	}
}
