//go:build linux

package server_test

import (
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
)

// However the owner ends, the worker is ended by its policy.
func TestOwner(t *testing.T) {
	t.Parallel()
	owner := exec.CommandContext(t.Context(), "sleep", "999")
	must(t, owner.Start())
	id, err := proc.Identify(owner.Process.Pid)
	must(t, err)
	l := restartLaunch("always", `trap 'echo stopped; exit 3' INT; echo ready; while :; do sleep 0.02; done`)
	l.Owner, l.Signal = id, "SIGINT"
	s := start(t, l, options{})
	p := restartLaunch("always", "exit 3")
	p.Owner = id
	p.Restart.MinDelay, p.Restart.MaxDelay = 600_000*time.Millisecond, 600_000*time.Millisecond
	pausing := start(t, p, options{})
	pausing.until("it pauses", func() bool { return pausing.status().Reason != "" })
	s.says("ready")
	must(t, owner.Process.Kill())
	for _, s := range []*shim{s, pausing} {
		if st := s.end(); st.Cause != "owner" || st.Code != 3 || st.Restarts != 0 || st.Reason != "its owner (pid "+strconv.Itoa(id.PID)+") ended" {
			t.Errorf("status %+v", st)
		}
	}
	_ = owner.Wait()

	late, line := tryStart(t, l, options{})
	if line != "error the owner (pid "+strconv.Itoa(id.PID)+") has ended" {
		t.Errorf("a start without its owner says %q", line)
	}
	late.leaves()
}
