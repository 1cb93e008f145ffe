package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRecoverRunning(t *testing.T) {
	t.Parallel()
	w := start(t, "sleep", "999")
	got, err := client.Recover(t.Context(), w.dir, w.id)
	if err != nil || got != w.facts().Shim {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRecoverTakesTheLaunchBack proves that "not found" is final: a shim that comes
// afterwards starts nothing.
func TestRecoverTakesTheLaunchBack(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	starting, err := client.Prepare(w.dir, w.launch("sleep", "999"))
	if err != nil {
		t.Fatal(err)
	}
	defer starting.Close()
	if _, err := client.Recover(t.Context(), w.dir, w.id); !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("before a shim came: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, rundir.LaunchFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the launch file: %v", err)
	}
}

// TestRecoverWaits is about a shim that has taken the launch file and has not yet
// said what came of it.
func TestRecoverWaits(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	d, err := os.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Recover(ended, w.dir, w.id); !errors.Is(err, context.Canceled) {
		t.Errorf("while it starts: %v", err)
	}
	result := make(chan error)
	go func() {
		_, err := client.Recover(t.Context(), w.dir, w.id)
		result <- err
	}()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, swarm.ErrNotFound) {
		t.Errorf("it left without a status: %v", err)
	}
}
