package spawn_test

import (
	"errors"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A capability that the backend does not announce is refused before anything is made; the
// host then watches the owner itself.
func TestSpawnNeedsCapabilities(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for what, change := range map[string]func(*spawn.Request){
		"stdin":   func(q *spawn.Request) { q.Stdin = true },
		"restart": func(q *spawn.Request) { q.Restart.When = swarm.RestartAlways },
	} {
		req := r.Request("w", "one")
		change(&req)
		_, err := r.Spawn().Spawn(t.Context(), req)
		if !errors.Is(err, swarm.ErrUnsupported) || err.Error() != "backend 'one' does not support "+what {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left := r.Leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	r.Announce("one", swarm.CapStdin, swarm.CapRestart)
	r.Announce("two", swarm.CapOwner)
	owner := &swarm.Owner{PID: 7, Start: 8, Boot: "b"}
	asked := func(q *spawn.Request) {
		q.Stdin, q.Owner, q.Ralph = true, owner, true
		q.Restart = swarm.Restart{When: swarm.RestartOnFailure, Budget: 2}
	}
	w := r.MustSpawn(t, "a", "one", asked)
	r.MustSpawn(t, "b", "two", func(q *spawn.Request) { q.Owner = owner })
	restart := swarm.Restart{When: swarm.RestartOnFailure, Budget: 2}.OrDefault()
	if w.Restart != restart || !w.Stdin || !w.Ralph || w.Owner == nil || *w.Owner != *owner {
		t.Errorf("the worker is %+v", w)
	}
	spec := r.One.All(t)[0].Spec
	if spec.Restart != restart || !spec.Stdin || spec.Owner != nil {
		t.Errorf("a backend without owners got %+v", spec)
	}
	if spec := r.Two.All(t)[0].Spec; spec.Owner != nil {
		t.Errorf("a backend elsewhere got the owner %+v", spec.Owner)
	}
	r.Announce("one", swarm.CapOwner)
	r.MustSpawn(t, "c", "one", asked)
	for _, w := range r.One.All(t) {
		if w.Spec.Name == "c" && (w.Spec.Owner == nil || *w.Spec.Owner != *owner) {
			t.Errorf("the backend got the owner %+v", w.Spec.Owner)
		}
	}
}

func TestSpawnRefusesPolicies(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapRestart)
	for what, change := range map[string]func(*spawn.Request){
		"policy":   func(q *spawn.Request) { q.Restart.When = "sometimes" },
		"negative": func(q *spawn.Request) { q.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: -1} },
		"order": func(q *spawn.Request) {
			q.Restart = swarm.Restart{When: swarm.RestartAlways, MinDelay: 2, MaxDelay: 1}
		},
		"owner": func(q *spawn.Request) { q.Owner = &swarm.Owner{} },
	} {
		req := r.Request("w", "one")
		change(&req)
		if _, err := r.Spawn().Spawn(t.Context(), req); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
