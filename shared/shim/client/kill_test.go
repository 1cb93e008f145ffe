package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// stubborn is a tree that only SIGKILL ends; it says when it is ready.
const stubborn = `trap '' TERM HUP INT; sleep 999 & setsid sleep 999 & echo ready; while :; do sleep 999; done`

var gently = swarm.KillOptions{Signal: "SIGTERM", Grace: 20 * time.Second, Force: true}

func TestKill(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", "setsid sleep 999 & exec sleep 999")
	r := w.kill(gently)
	if r.Status.State != swarm.StateExited || r.Signal != "SIGTERM" || r.Forced || r.AlreadyEnded {
		t.Errorf("result %+v", r)
	}
	if e := r.Status.Exit; e == nil || e.Cause != swarm.CauseKilled || e.Signal != "SIGTERM" || e.Code != -1 || time.Since(e.Time) > time.Minute {
		t.Errorf("exit %+v", e)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	r = w.kill(gently)
	if !r.AlreadyEnded || r.Signal != "" || r.Status.State != swarm.StateExited {
		t.Errorf("a second kill: %+v", r)
	}
}

func TestKillForces(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	r := w.kill(swarm.KillOptions{Signal: "TERM", Grace: 100 * time.Millisecond, Force: true})
	if !r.Forced || r.Status.State != swarm.StateExited || r.Status.Exit.Signal != "SIGKILL" {
		t.Errorf("result %+v", r)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestKillWithoutForce(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	r, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: 50 * time.Millisecond})
	if !errors.Is(err, swarm.ErrSurvivors) {
		t.Fatalf("error %v", err)
	}
	if r.Status.State != swarm.StateRunning || r.Signal != client.DefaultSignal || r.Forced || len(r.Survivors) < 3 {
		t.Errorf("result %+v", r)
	}
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
}

// TestKillTwice has a kill with a long grace under way when a harsher one comes.
func TestKillTwice(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	k, err := client.Ask(t.Context(), w.dir, w.id, swarm.KillOptions{Grace: 10 * time.Minute, Force: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if !k.Accepted() {
		t.Error("the first kill was not accepted")
	}
	if r := w.kill(swarm.KillOptions{Signal: "SIGKILL", Force: true}); r.Status.State != swarm.StateExited {
		t.Errorf("the second kill: %+v", r)
	}
	r, err := k.Result(t.Context())
	if err != nil || r.Status.State != swarm.StateExited || r.Signal != "SIGTERM" {
		t.Errorf("the first kill: %+v, %v", r, err)
	}
}

func TestKillDetached(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	r := w.kill(swarm.KillOptions{Grace: 200 * time.Millisecond, Force: true, Detach: true})
	if r.Status.State != swarm.StateRunning || r.Signal != "SIGTERM" {
		t.Errorf("result %+v", r)
	}
	if s := w.wait(); s.State != swarm.StateExited || s.Exit.Cause != swarm.CauseKilled {
		t.Errorf("status %+v", s)
	}
}

// TestKillCancelled stops waiting for a kill; the kill continues.
func TestKillCancelled(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", stubborn)
	w.firstLine()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Kill(ctx, w.dir, w.id, swarm.KillOptions{Grace: 500 * time.Millisecond, Force: true})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if s := w.wait(); s.State != swarm.StateExited || s.Exit.Cause != swarm.CauseKilled {
		t.Errorf("status %+v", s)
	}
}

func TestKillInvalidSignal(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	_, err := client.Kill(t.Context(), w.dir, w.id, swarm.KillOptions{Signal: "KILL force=1"})
	if !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("error %v", err)
	}
}

// TestKillStopped stops the worker and its shim.
func TestKillStopped(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	st := w.facts()
	for _, id := range []proc.Identity{st.Main, st.Shim} {
		if err := id.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	if r := w.kill(gently); r.Status.State != swarm.StateExited || r.Forced {
		t.Errorf("result %+v", r)
	}
}

// TestKillWithoutSocket removes what is in the run directory.
func TestKillWithoutSocket(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	if err := os.Remove(filepath.Join(w.dir, rundir.Socket)); err != nil {
		t.Fatal(err)
	}
	r := w.kill(gently)
	if r.Status.State != swarm.StateExited || r.AlreadyEnded {
		t.Errorf("result %+v", r)
	}
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.dir = filepath.Join(w.dir, strings.Repeat("d", 200), "ü s;")
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.start(t.Context(), w.launch("sleep", "999")); err != nil {
		t.Fatal(err)
	}
	if r := w.kill(gently); r.Status.State != swarm.StateExited {
		t.Errorf("result %+v", r)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	w := start(t, "sh", "-c", `trap 'echo got; exit 7' USR1; echo ready; while :; do sleep 0.05; done`)
	w.firstLine()
	if err := client.Signal(t.Context(), w.dir, w.id, swarm.SignalOptions{Signal: "USR1", Mode: swarm.KillMain}); err != nil {
		t.Fatal(err)
	}
	if s := w.wait(); s.Exit == nil || s.Exit.Code != 7 || s.Exit.Cause != swarm.CauseExited {
		t.Errorf("status %+v", s)
	}
	if err := client.Signal(t.Context(), w.dir, w.id, swarm.SignalOptions{Signal: "USR1", Mode: swarm.KillMain}); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("a signal to one that ended: %v", err)
	}
}
