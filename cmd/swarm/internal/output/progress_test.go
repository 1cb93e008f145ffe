package output

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	waiting := []host.KillEvent{
		{Worker: "slow", Deadline: now.Add(10 * time.Second)},
		{Worker: "quick", Deadline: now.Add(1500 * time.Millisecond)},
		{Worker: "late", Deadline: now.Add(-time.Second)},
	}
	for width, want := range map[int]string{
		79: "waiting for late, quick (2s left), slow (10s left)",
		45: "waiting for late, quick (2s left) and 1 more",
		30: "waiting for late and 2 more",
		10: "waiting for 3",
	} {
		if got := progressLine(waiting, now, width); got != want {
			t.Errorf("in %d columns %q, want %q", width, got, want)
		}
	}
	if got := progressLine(nil, now, 80); got != "" {
		t.Errorf("printed without anybody to wait for: %q", got)
	}
}
