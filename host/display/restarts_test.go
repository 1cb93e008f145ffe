package display

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRestartText(t *testing.T) {
	t.Parallel()
	now := time.Unix(1700000000, 0)
	recent := func(ages ...time.Duration) (rs []swarm.Restarted) {
		for i, age := range ages {
			rs = append(rs, swarm.Restarted{Number: i + 1, Time: now.Add(-age)})
		}
		return rs
	}
	policy := swarm.Restart{When: swarm.RestartAlways, Budget: 5, Window: time.Minute}
	wide := swarm.Restart{When: swarm.RestartAlways, Budget: 20, Window: time.Hour}
	for _, c := range []struct {
		want   string
		reason string
		ran    []swarm.Restarted
		policy swarm.Restart
	}{
		{"exited 3, restarting in 1s (1 of 5)", "restarting in 1s (exit status 3)", nil, policy},
		{"exited 0, restarting in 200ms (3 of 5)", "restarting in 200ms (exit status 0)", recent(time.Hour, 30*time.Second, time.Second), policy},
		{"killed SIGSEGV, restarting in 30s (2 of 5)", "restarting in 30s (signal SIGSEGV)", recent(time.Second), policy},
		{"out of memory: 2 MiB (all), restarting in 1s (1 of 5)", "restarting in 1s (out of memory: 2 MiB (all))", nil, policy},
		{"cannot start, restarting in 4s (1 of 5)", "restarting in 4s (cannot start)", nil, swarm.Restart{When: swarm.RestartAlways}},
		{"exited 1, restarting in 4s", "restarting in 4s (exit status 1)", recent(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), wide},
		{"", "", nil, policy},
		{"", "the disk is full", nil, policy},
	} {
		s := swarm.Status{State: swarm.StateRunning, Reason: c.reason, LastRestarts: c.ran, Restarts: len(c.ran) + 1}
		if got := RestartText(s, c.policy, now); got != c.want {
			t.Errorf("%q: %q, want %q", c.reason, got, c.want)
		}
		if s.State = swarm.StateExited; RestartText(s, c.policy, now) != "" {
			t.Errorf("%q: it has ended", c.reason)
		}
	}
}
