package spawn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/worker"
)

func TestManySpawns(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	const n = 25
	errs := make(chan error, 2*n)
	for i := range n {
		go func() {
			_, err := r.Spawn().Spawn(t.Context(), r.Request(fmt.Sprintf("g%d", i), "one"))
			errs <- err
		}()
		go func() {
			out, err := hosttest.SpawnProcess(t, r.Root, fmt.Sprintf("p%d", i), "").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			errs <- err
		}()
	}
	for range 2 * n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	ws := r.Statuses(t)
	if len(ws) != 2*n || len(r.One.Alive(t)) != 2*n {
		t.Fatalf("%d records and %d workers, want %d", len(ws), len(r.One.Alive(t)), 2*n)
	}
	out, err := r.Kill().Kill(t.Context(), worker.Selection{All: true}, kill.Request{})
	if err != nil || hosttest.KillErrors(out) != nil || len(out) != 2*n {
		t.Error(err, hosttest.KillErrors(out))
	}
	if alive := r.One.Alive(t); len(alive) > 0 {
		t.Errorf("still alive: %v", alive)
	}
}

// Of many spawns of one name one wins, and nothing is left of the others.
func TestOneName(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	const n = 20
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := r.Spawn().Spawn(t.Context(), r.Request("same", "one"))
			errs <- err
		}()
	}
	won := 0
	for range n {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, worker.ErrExists):
			t.Error(err)
		}
	}
	if ids, err := r.StateDir().RunDirs(); err != nil || won != 1 || len(ids) != 1 || len(r.One.Alive(t)) != 1 {
		t.Errorf("%d won, run directories %v, alive %v, %v", won, ids, r.One.Alive(t), err)
	}
}
