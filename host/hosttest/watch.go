package hosttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
)

// Watcher is a watch in another host of the same state directory.
type Watcher struct {
	// Lines are the events, Warnings the warnings.
	Lines, Warnings chan string
	// Stop ends the watch and returns its error.
	Stop func() error
}

// StartWatch starts a watch and returns once it misses nothing.
func (r *Rig) StartWatch(t testing.TB) *Watcher {
	t.Helper()
	other := NewIn(t, r.Root)
	other.UsePlugins(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	w := &Watcher{Lines: make(chan string, 10000), Warnings: make(chan string, 100)}
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- other.Watch().Watch(ctx, watch.Request{
			Ready: func() { close(ready) },
			Event: func(e registry.Event) error {
				w.Lines <- e.String()
				return nil
			},
			Warn: func(text string) { w.Warnings <- text },
		})
	}()
	w.Stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = w.Stop() })
	select {
	case <-ready:
	case err := <-done:
		t.Fatalf("watch: %v", err)
	}
	return w
}

// Expect waits for these events, in this order and without others.
func (w *Watcher) Expect(t testing.TB, want ...string) {
	t.Helper()
	for _, line := range want {
		select {
		case got := <-w.Lines:
			if got != line {
				t.Fatalf("event %q, want %q", got, line)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no event %q", line)
		}
	}
}
