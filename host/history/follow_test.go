package history_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

// A follower begins with what was asked for and continues with what is new.
func TestFollow(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	follow := func(q registry.EventQuery) (*hosttest.Watcher, func() error) {
		other := hosttest.NewIn(t, r.Root)
		ctx, cancel := context.WithCancel(t.Context())
		w := &hosttest.Watcher{Lines: make(chan string, 1000)}
		done := make(chan error, 1)
		go func() {
			done <- other.History().FollowEvents(ctx, q, func(e registry.Event) error {
				w.Lines <- e.String()
				return nil
			})
		}()
		t.Cleanup(cancel)
		return w, func() error {
			cancel()
			return <-done
		}
	}
	// There is not even a state directory yet.
	all, stopAll := follow(registry.EventQuery{})
	r.MustSpawn(t, "a", "one")
	all.Expect(t, "[a] SPAWNED")
	r.MustSpawn(t, "b", "one")
	one := 1
	last, _ := follow(registry.EventQuery{Last: &one})
	last.Expect(t, "[b] SPAWNED")
	onlyA, _ := follow(registry.EventQuery{Worker: "a"})
	onlyA.Expect(t, "[a] SPAWNED")
	r.MustKill(t, worker.Selection{Names: []string{"b", "a"}}, kill.Request{})
	onlyA.Expect(t, "[a] KILL REQUESTED", "[a] KILLED: by orchestrator")
	var lines []string
	for range 4 {
		lines = append(lines, <-last.Lines)
	}
	slices.Sort(lines)
	if diff := cmp.Diff([]string{"[a] KILL REQUESTED", "[a] KILLED: by orchestrator", "[b] KILL REQUESTED", "[b] KILLED: by orchestrator"}, lines); diff != "" {
		t.Error(diff)
	}
	if err := stopAll(); !errors.Is(err, context.Canceled) {
		t.Errorf("follow: %v", err)
	}
	if err := r.History().FollowEvents(t.Context(), registry.EventQuery{Worker: "ghost"}, nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a ghost: %v", err)
	}
	enough := errors.New("enough")
	if err := r.History().FollowEvents(t.Context(), registry.EventQuery{}, func(registry.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("each: %v", err)
	}
}
