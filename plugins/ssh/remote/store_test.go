package remote

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestGivenUp: what was given up stays so, whatever is given up after it.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	s := store{dir: t.TempDir()}
	for i, step := range []struct{ attempt, want int }{{0, 0}, {2, 2}, {1, 2}, {math.MaxInt, math.MaxInt}, {3, math.MaxInt}} {
		if err := s.giveUp("w-1", step.attempt); err != nil {
			t.Fatal(err)
		}
		if got, err := s.lastGivenUp("w-1"); got != step.want || err != nil {
			t.Errorf("step %d: %d, %v", i, got, err)
		}
	}
	if got, err := s.lastGivenUp("w-2"); got != 0 || err != nil {
		t.Errorf("another worker: %d, %v", got, err)
	}
	old := time.Now().Add(-2 * givenUpFor)
	if err := os.Chtimes(filepath.Join(s.givenUp(), "w-1"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.giveUp("w-2", 1); err != nil {
		t.Fatal(err)
	}
	if got, err := s.lastGivenUp("w-1"); got != 0 || err != nil {
		t.Errorf("an old note is kept: %d, %v", got, err)
	}
}

func TestGreeting(t *testing.T) {
	t.Parallel()
	for _, o := range []Origin{{}, {Machine: "m"}, {Store: "s"}, {Machine: "m", Store: "s"}} {
		if hash, got, ok := ParseGreeting(Greeting("hash", o)); hash != "hash" || got != o || !ok {
			t.Errorf("%+v is read as %q, %+v, %v", o, hash, got, ok)
		}
	}
	for _, line := range []string{"", "a login shell that prints", "swarm-remote serves", "swarm-remote serves hash"} {
		if _, _, ok := ParseGreeting(line); ok {
			t.Errorf("%q is a greeting", line)
		}
	}
}
