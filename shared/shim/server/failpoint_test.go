//go:build linux

package server_test

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However the shim dies, a status that reports an end is true, and comes
// after the output. The points are in the order in which they are passed.
func TestDeathAtEveryStepOfTheEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		point string
		state string
	}{
		{"drained", "running"},
		{"logged", "running"},
		{"written", "running"},
		{"synced", "running"},
		{"renamed", "ended"},
		{"ended", "ended"},
		{"answered", "ended"},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch("echo out; echo err >&2; echo last; exec sleep 999"), options{
				program: failingPath,
				env:     []string{"SWARM_SHIM_FAIL=" + tt.point},
			})
			s.says("last")
			waiting := s.send("watch")
			if line, err := waiting.ReadString('\n'); line != "ok\n" {
				t.Fatalf("watch: got %q, %v", line, err)
			}
			if a := s.ask(killLine("SIGTERM", limit, true)); tt.point != "answered" && (len(a) != 1 || a[0] != "accepted") {
				t.Errorf("the client got %q before the end was durable", a)
			}
			if line, _ := waiting.ReadString('\n'); (line != "") != (tt.point == "answered") {
				t.Errorf("the client got %q", line)
			}
			s.leaves()
			if s.cmd.ProcessState.ExitCode() != -1 {
				t.Fatalf("the shim left with %v instead of dying", s.cmd.ProcessState)
			}
			st := s.status()
			if st.State != tt.state {
				t.Errorf("state %q", st.State)
			}
			if st.Shim.Alive() {
				t.Error("the shim's identity is alive")
			}
			if tt.state == "ended" && (st.Code != -1 || st.Signal != "SIGTERM" || st.Cause != "killed") {
				t.Errorf("status %+v", st)
			}
			if diff := cmp.Diff("out\nlast\n", s.text("stdout")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A disk that hangs while the status is written keeps no kill from the worker: neither
// one that comes after a completion nor one of a worker whose output was dropped.
func TestKillWhileTheDiskHangs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, script string }{
		{"completion", "echo ready; exec sleep 999"},
		{"drops", "echo ready; until [ -e go ]; do sleep 0.01; done; seq 1 2000; exec sleep 999"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := launch(tt.script)
			l.OutputLimit = 4096
			s := start(t, l, options{program: failingPath})
			s.says("ready")
			hang := filepath.Join(s.dir, "hang")
			must(t, os.WriteFile(hang, nil, 0o600))
			var completing *bufio.Reader
			if tt.name == "completion" {
				completing = s.send(completeLine("done", limit))
			} else {
				must(t, os.WriteFile(filepath.Join(s.work, "go"), nil, 0o600))
			}
			s.until("the disk hangs", func() bool {
				_, err := os.Lstat(filepath.Join(s.dir, "hanging"))
				return err == nil
			})
			killing := s.send(killLine("SIGTERM", limit, true))
			s.until("the worker has ended", func() bool { return len(s.left()) == 0 })
			must(t, os.Remove(hang))
			if line, _ := killing.ReadString('\n'); line != "accepted\n" {
				t.Errorf("answer to kill: %q", line)
			}
			st := s.end()
			if completing == nil {
				if st.Cause != "killed" || st.Signal != "SIGTERM" || st.DroppedLines == 0 {
					t.Errorf("status %+v", st)
				}
				return
			}
			if line, _ := completing.ReadString('\n'); line != "ok\n" || st.Completion == nil || st.Cause != "completed" {
				t.Errorf("answer %q, status %+v", line, st)
			}
		})
	}
}
