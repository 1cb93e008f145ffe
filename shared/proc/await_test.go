package proc_test

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/proc"
)

// An end that comes before that of the context is never taken for a time-out,
// however short before.
func TestAwaitEndAtTheDeadline(t *testing.T) {
	t.Parallel()
	for range 100 {
		cmd := exec.CommandContext(t.Context(), "sleep", "999")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		id, err := proc.Identify(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() { got <- proc.AwaitEnd(ctx, id) }()
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for id.Alive() {
			// Nothing that waits would be as short before.
		}
		cancel()
		if err := <-got; err != nil {
			t.Fatalf("ended, and then: %v", err)
		}
		_ = cmd.Wait()
	}
}

func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	id, cmd := sleeper(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := proc.AwaitEnd(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("of one that is alive: %v", err)
	}
	other := id
	other.Start++
	if err := proc.AwaitEnd(t.Context(), other); err != nil {
		t.Errorf("of an earlier process with that pid: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := proc.AwaitEnd(t.Context(), id); err != nil {
		t.Errorf("of one that is gone: %v", err)
	}
}
