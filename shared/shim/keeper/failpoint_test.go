//go:build linux

package keeper_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However the shim dies, a status that tells of an end tells the truth, and comes
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
		{"told", "ended"},
	} {
		t.Run(tt.point, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch("echo out; echo err >&2; echo last; exec sleep 999"), options{
				program: failingPath,
				env:     []string{"SWARM_SHIM_FAIL=" + tt.point},
			})
			s.says("last")
			waiting := s.send("wait")
			if a := s.ask(killLine("SIGTERM", limit, true)); tt.point != "told" && (len(a) != 1 || a[0] != "accepted") {
				t.Errorf("told %q before the end was durable", a)
			}
			if line, _ := waiting.ReadString('\n'); (line != "") != (tt.point == "told") {
				t.Errorf("told %q", line)
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
