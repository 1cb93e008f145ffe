package feeder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/feeder"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestOutcome checks what the exit of the program that gives an input means: an engine ends
// that program, or loses track of it, when the worker ends.
func TestOutcome(t *testing.T) {
	t.Parallel()
	const killed = 137
	for _, c := range []struct {
		size, code int
		over       bool
		pending    bool
		err        error
	}{
		{5, 0, false, false, nil},
		{5, 93, false, true, nil},
		{5, killed, true, false, swarm.ErrNotFound},
		{5, feeder.Unknown, true, false, swarm.ErrNotFound},
		{5, feeder.Unknown, false, false, swarm.ErrUnavailable},
		{5, 90, false, false, swarm.ErrUnavailable},
		{5, 91, true, false, swarm.ErrInvalidSpec},
		{5, 92, false, false, swarm.ErrUnavailable},
		{5, 1, false, false, swarm.ErrUnavailable},
		{-1, killed, true, false, nil},
		{-1, feeder.Unknown, true, false, nil},
		{-1, feeder.Unknown, false, true, nil},
	} {
		got, err := feeder.Outcome(c.size, c.code, "", func() bool { return c.over })
		if got.Pending != c.pending || !errors.Is(err, c.err) {
			t.Errorf("%d bytes, exit %d, worker over %v: pending %v, error %v; want %v, %v",
				c.size, c.code, c.over, got.Pending, err, c.pending, c.err)
		}
	}
}

// TestFeeder feeds a worker that is a shell next to the test.
func TestFeeder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f := feeder.Feeder(filepath.Join(t.TempDir(), "stdin"))
	worker := exec.CommandContext(ctx, "sh", "-c", "refuse() { exit 9; }\n"+f.Start()+feeder.Exec, "worker", "cat")
	var out bytes.Buffer
	worker.Stdout = &out
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	give := func(size int, data string) error {
		argv := f.Give(size)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader(data)
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			return err
		}
		_, err = feeder.Outcome(size, cmd.ProcessState.ExitCode(), string(said), func() bool { return false })
		return err
	}
	var want strings.Builder
	for i := range 10 {
		text := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", i*10000))
		want.WriteString(text)
		if err := give(len(text), text); err != nil {
			t.Fatalf("input %d: %v", i, err)
		}
	}
	if err := give(100, "less"); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("an input that was cut off: %v", err)
	}
	if err := give(-1, ""); err != nil {
		t.Errorf("the end of input: %v", err)
	}
	if err := worker.Wait(); err != nil || out.String() != want.String() {
		t.Errorf("%v, the worker got %d bytes, want %d", err, out.Len(), want.Len())
	}
	if err := give(5, "late\n"); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("after the end: %v", err)
	}
}
