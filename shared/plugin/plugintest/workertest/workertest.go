// Package workertest starts workers in the tests of a backend, waits for them and reads what
// they wrote. It is for tests next to the conformance kit, and imported by tests alone.
package workertest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Limit is how long a test waits for an event that must happen soon.
const Limit = time.Minute

// Spawn starts a worker that ends with the test.
func Spawn(t *testing.T, b swarm.Backend, spec swarm.Spec) swarm.Handle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	h, err := b.Spawn(ctx, spec)
	if err != nil {
		t.Fatalf("spawn %s, %q: %v", spec.Name, spec.Command, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Limit)
		defer cancel()
		if _, err := b.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true}); err != nil {
			t.Errorf("clean up %s: %v", spec.Name, err)
		}
	})
	return h
}

// Ended waits for the end of a worker and returns its last status.
func Ended(t *testing.T, b swarm.Watcher, h swarm.Handle) swarm.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	var st swarm.Status
	err := b.Watch(ctx, h, func(now swarm.Status) error {
		st = now
		return nil
	})
	if err != nil {
		t.Fatalf("watch: %v", err)
	}
	return st
}

// Lines returns the output of a worker as lines.
func Lines(t *testing.T, b swarm.Outputter, h swarm.Handle, o swarm.OutputOptions) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	defer cancel()
	var all []string
	var line strings.Builder
	err := b.Output(ctx, h, o, func(p swarm.Output) error {
		line.Write(p.Data)
		if !p.Partial {
			all = append(all, line.String())
			line.Reset()
		}
		return nil
	})
	if err != nil {
		t.Fatalf("output: %v", err)
	}
	if line.Len() > 0 {
		all = append(all, line.String())
	}
	return all
}

// Until waits for a condition that has no event.
func Until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > Limit {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}
