//go:build linux

package server_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Clients that wait for the worker don't keep others from ending it.
func TestKillDuringAThousandWaits(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	for range 1200 {
		s.until("there is space in the queue", func() bool {
			c, err := net.Dial("unix", filepath.Join(s.dir, rundir.Socket))
			if errors.Is(err, unix.EAGAIN) {
				return false
			}
			must(t, err)
			t.Cleanup(func() { c.Close() })
			_, err = io.WriteString(c, "watch\n")
			must(t, err)
			return true
		})
	}
	if a := s.kill("SIGTERM", limit, true); a.Kind != rundir.AnswerEnded || a.Forced || a.Already {
		t.Errorf("answer %+v", a)
	}
	if st := s.end(); st.Cause != "killed" || st.Signal != "SIGTERM" {
		t.Errorf("status %+v", st)
	}
}

// order places a kill in the run directory, and wakes the shim.
func (s *shim) order(line string, age time.Duration) (path string) {
	s.t.Helper()
	path = filepath.Join(s.dir, rundir.OrderFile)
	must(s.t, os.WriteFile(path+".new", []byte(line), 0o600))
	at := time.Now().Add(-age)
	must(s.t, os.Chtimes(path+".new", at, at))
	must(s.t, os.Rename(path+".new", path))
	must(s.t, unix.Kill(s.cmd.Process.Pid, unix.SIGCONT))
	return path
}

// A kill that lies in the run directory is carried out with its own options, by a
// shim that was stopped, too.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := start(t, launch("trap 'exit 7' USR1; trap '' TERM; echo ready; while :; do sleep 0.02; done"), options{})
	s.says("ready")
	must(t, unix.Kill(s.cmd.Process.Pid, unix.SIGSTOP))
	s.order("kill id=w1 signal=SIGUSR1 grace=60000 force=1 mode=main\n", 0)
	if st := s.end(); st.Cause != "killed" || st.Code != 7 || st.Forced {
		t.Errorf("status %+v", st)
	}
	s.wantNothingLeft()
}

// An order that is not one, or is another worker's, or old, is removed and not
// carried out.
func TestOrderThatIsNone(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	const kill = "kill id=w1 signal=SIGKILL grace=0 force=1 mode=tree\n"
	for _, bad := range []struct {
		line string
		age  time.Duration
	}{
		{line: "kill id=w2 signal=SIGKILL grace=0 force=1 mode=tree\n"},
		{line: "kill signal=SIGKILL grace=0 force=1 mode=tree\n"},
		{line: "kill id=w1 signal=SIGNONSENSE grace=0 force=1 mode=tree\n"},
		{line: kill[:len(kill)-1]},
		{line: "watch id=w1\n"},
		{line: "\n"},
		{line: kill, age: rundir.OrderLife + time.Second},
	} {
		path := s.order(bad.line, bad.age)
		s.until("the order is gone", func() bool {
			_, err := os.Lstat(path)
			return os.IsNotExist(err)
		})
	}
	if a := s.kill("SIGTERM", limit, true); a.Kind != rundir.AnswerEnded || a.Already {
		t.Errorf("an invalid order was carried out: %+v", a)
	}
	if st := s.end(); st.Signal != "SIGTERM" {
		t.Errorf("status %+v", st)
	}
}
