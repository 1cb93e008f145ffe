package spawn_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestOnlyWhatWasGivenGoesAway(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "two", func(req *spawn.Request) { req.Env = []string{"A=1"} })
	r.MustSpawn(t, "dir", "two", func(req *spawn.Request) { req.Dir, req.DirGiven = "/not/here", true })
	for _, w := range r.Two.All(t) {
		want := ""
		if w.Spec.Name == "dir" {
			want = "/not/here"
		}
		if w.Spec.Dir != want || w.Spec.Local != nil || w.Spec.Owner != nil {
			t.Errorf("%s was sent away with %+v", w.Spec.Name, w.Spec)
		}
		for _, kv := range w.Spec.Env {
			if kv != "A=1" && kv != "SWARM_WORKER="+w.Spec.Name && kv != "SWARM_WORKER_ID="+w.ID {
				t.Errorf("%s was sent away with the variable %s", w.Spec.Name, kv)
			}
		}
	}
	if dir := r.Worker(t, "w").Dir; dir != "" {
		t.Errorf("the worker says that it is in %s", dir)
	}
	if _, err := r.Spawn().Respawn(t.Context(), "dir", spawn.RespawnRequest{}); err != nil {
		t.Fatal(err)
	}
	if dir := r.Worker(t, "dir").Dir; dir != "/not/here" {
		t.Errorf("respawned in %q", dir)
	}
}

func TestWhatHasToBeHereIsNotSentAway(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	for what, change := range map[string]func(*spawn.Request){
		"can't be in a workspace": hosttest.InWorkspace,
		"a loop has to run here":  func(req *spawn.Request) { req.Ralph = true },
		"an agent has to run here": func(req *spawn.Request) {
			req.Agent = &team.Entry{ID: "agent-000000", Team: "t"}
		},
	} {
		req := r.Request("w", "two")
		change(&req)
		_, err := r.Spawn().Spawn(t.Context(), req)
		if !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if alive := r.Two.Alive(t); !slices.Equal(alive, []string{}) {
		t.Errorf("alive are %v", alive)
	}
	if got := r.Statuses(t); len(got) > 0 {
		t.Errorf("there are %v", got)
	}
}
