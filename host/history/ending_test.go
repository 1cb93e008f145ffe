package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestEndings(t *testing.T) {
	t.Parallel()
	rec := registry.Record{Spec: registry.Spec{ID: "id", Name: "w"}}
	said := &swarm.Completion{Summary: "all\n\ttests\r \x1b[1mpa\u202ess\x07", Time: time.Unix(1700000001, 0)}
	now, ended := time.Unix(1700000009, 0), time.Unix(1700000005, 0)
	exit := func(code int, signal string, cause swarm.Cause) swarm.Status {
		return swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Code: code, Signal: signal, Cause: cause, Time: ended}}
	}
	evicted := func(code int, signal string) swarm.Status {
		s := exit(code, signal, swarm.CauseEvicted)
		s.Exit.Reason = "its node is drained"
		return s
	}
	with := func(s swarm.Status, c *swarm.Completion) swarm.Status {
		s.Completion = c
		return s
	}
	for _, c := range []struct {
		status swarm.Status
		want   string
		at     time.Time
	}{
		{exit(0, "", swarm.CauseExited), "[w] EXITED: success", ended},
		{exit(3, "", swarm.CauseExited), "[w] FAILED: exit status 3", ended},
		{exit(-1, "SIGTERM", swarm.CauseExited), "[w] FAILED: signal: terminated", ended},
		{exit(-1, "SIGKILL", swarm.CauseExited), "[w] FAILED: signal: killed", ended},
		{exit(-1, "SIGODD", swarm.CauseExited), "[w] FAILED: signal: SIGODD", ended},
		{exit(-1, "SIGHUP", swarm.CauseHangup), "[w] FAILED: signal: hangup", ended},
		{exit(0, "", swarm.CauseShutdown), "[w] EXITED: success", ended},
		{exit(-1, "SIGTERM", swarm.CauseKilled), "[w] KILLED: by orchestrator", ended},
		{exit(0, "", swarm.CauseKilled), "[w] KILLED: by orchestrator", ended},
		{exit(-1, "SIGTERM", swarm.CauseOwner), "[w] KILLED: by orchestrator", ended},
		{exit(7, "", swarm.CauseCrashLoop), "[w] FAILED: exit status 7", ended},
		{evicted(-1, "SIGTERM"), "[w] FAILED: signal: terminated (its node is drained)", ended},
		{evicted(0, ""), "[w] FAILED: exit status 0 (its node is drained)", ended},
		{evicted(-1, ""), "[w] FAILED: its node is drained", ended},
		{exit(1, "", "a cause of later"), "[w] FAILED: exit status 1", ended},
		{exit(0, "", swarm.CauseCompleted), "[w] COMPLETE", ended},
		{with(exit(-1, "SIGKILL", swarm.CauseCompleted), said), "[w] COMPLETE: all tests pass", said.Time},
		{with(exit(-1, "SIGKILL", swarm.CauseKilled), &swarm.Completion{}), "[w] COMPLETE", ended},
		{with(swarm.Status{State: swarm.StateLost}, said), "[w] COMPLETE: all tests pass", said.Time},
		{swarm.Status{State: swarm.StateLost, Reason: "shim died"}, "[w] DIED: process not found", now},
		{
			swarm.Status{State: swarm.StateExited, Exit: &swarm.Exit{Code: 127, Cause: swarm.CauseNotStarted, Reason: "command not found: x", Time: ended}},
			"[w] FAILED: command not found: x", ended,
		},
	} {
		e := FinalEvent(&rec, c.status, now)
		if got := e.String(); got != c.want || !e.Time.Equal(c.at) || !e.Final || e.ID != "id" {
			t.Errorf("%+v: %q at %s, final %v; want %q at %s", c.status, got, e.Time, e.Final, c.want, c.at)
		}
	}
}

func TestRestartsReported(t *testing.T) {
	t.Parallel()
	restart := func(n int) swarm.Restarted {
		return swarm.Restarted{Number: n, Time: time.Unix(int64(n), 0), Code: n, Signal: ""}
	}
	killed := swarm.Restarted{Number: 4, Time: time.Unix(4, 0), Code: -1, Signal: "SIGSEGV"}
	for _, c := range []struct {
		reported, restarts int
		last               []swarm.Restarted
		want               []string
	}{
		{0, 0, nil, nil},
		{0, 2, []swarm.Restarted{restart(1), restart(2)}, []string{"restart 1 after exit status 1", "restart 2 after exit status 2"}},
		{2, 4, []swarm.Restarted{restart(1), restart(2), restart(3), killed}, []string{"restart 3 after exit status 3", "restart 4 after signal: segmentation fault"}},
		{4, 4, []swarm.Restarted{restart(3), killed}, nil},
		{0, 3, []swarm.Restarted{restart(2), restart(3)}, []string{"restart 1", "restart 2 after exit status 2", "restart 3 after exit status 3"}},
		{1, 9, []swarm.Restarted{restart(8), restart(9)}, []string{"restarts 2 to 7", "restart 8 after exit status 8", "restart 9 after exit status 9"}},
		{1, 3, nil, []string{"restarts 2 to 3"}},
		{9, 3, []swarm.Restarted{restart(3)}, nil},
	} {
		rec := registry.Record{Spec: registry.Spec{Name: "w"}, Restarts: c.reported}
		var got []string
		for _, e := range RestartEvents(&rec, swarm.Status{Restarts: c.restarts, LastRestarts: c.last}, time.Unix(99, 0)) {
			got = append(got, e.Text)
			if e.Kind != Restarted || e.Final || e.Time.Unix() > 99 {
				t.Errorf("%+v", e)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d reported of %d (-want +got):\n%s", c.reported, c.restarts, diff)
		}
	}
}
