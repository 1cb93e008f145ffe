package output

import (
	"bytes"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/kill"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	waiting := []kill.Event{
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

// TestProgressOfStarts prints what starts wait for on one line of a terminal, and on lines
// of their own elsewhere, not too many.
func TestProgressOfStarts(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		0:  "swarm: a: fetching 1\nswarm: b: fetching\n",
		40: "a: fetching 1\r\x1b[Ka: fetching 2\r\x1b[Ka: fetching 2; b: fetching\r\x1b[Kb: fetching\r\x1b[K",
		12: "a: fetchin…\r\x1b[Ka: fetchin…\r\x1b[Ka: fetchin…\r\x1b[Kb: fetching\r\x1b[K",
	} {
		var out bytes.Buffer
		// No goroutine draws next to this one.
		p := &Progress{w: &out, width: func() int { return width }, begun: time.Now().Add(-time.Minute), quit: make(chan struct{}), done: make(chan struct{})}
		close(p.done)
		for _, s := range []start{{worker: "a", text: "fetching 1"}, {worker: "a", text: "fetching 2"}, {worker: "b", text: "fetching"}, {worker: "a"}, {worker: "c"}, {worker: "b"}} {
			p.Start(s.worker, s.text)
		}
		p.Stop()
		p.Start("a", "too late")
		if got := out.String(); got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}
