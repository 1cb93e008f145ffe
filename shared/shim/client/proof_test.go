package client_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestLostProofGone has an orphan that is proven only by its session, and only for
// as long as the leader of that session lives.
func TestLostProofGone(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", `env -i sh -c 'trap "" TERM; echo $$; exec sleep 999' & exec sleep 999`)
	pid, err := strconv.Atoi(w.firstLine())
	if err != nil {
		t.Fatal(err)
	}
	stubborn, err := proc.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	w.loseShim()
	r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Signal: "SIGKILL", Mode: swarm.KillMain, Grace: 50 * time.Millisecond})
	if !errors.Is(err, swarm.ErrSurvivors) || len(r.Survivors) == 0 || len(r.Status.Survivors) == 0 {
		t.Errorf("its leader alone: %+v, %v", r, err)
	}
	if !stubborn.Alive() {
		t.Error("it is gone too soon for this test")
	}
	// No proof of it is left, so the test has to end it.
	if err := errors.Join(stubborn.Signal(9), proc.AwaitEnd(t.Context(), stubborn)); err != nil {
		t.Error(err)
	}
	eventually(t, "it is gone", func() bool { return !stubborn.Alive() })
}

func TestLostProofGoneForced(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", `env -i sh -c 'trap "" TERM; echo $$; exec sleep 999' & exec sleep 999`)
	pid, err := strconv.Atoi(w.firstLine())
	if err != nil {
		t.Fatal(err)
	}
	stubborn, err := proc.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	w.loseShim()
	// SIGTERM ends the leader; the other takes no notice of it.
	if r := w.kill(swarm.KillOptions{Grace: 50 * time.Millisecond, Force: true}); !r.Forced || len(r.Survivors) > 0 {
		t.Errorf("result %+v", r)
	}
	if stubborn.Alive() {
		t.Error("it outlived the kill")
	}
}
