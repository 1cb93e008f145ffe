package hookstate

import (
	"context"
	"errors"
	"testing"
)

// A decision reaches the hook that waits for it, and no other one.
func TestDecide(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	if err := Decide(t.Context(), run, Decision{Digest: "a", Answer: Allow}); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("without a hook: %v", err)
	}
	w, err := Listen(run)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan Decision, 1)
	go func() {
		d, err := w.Decision(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		got <- d
	}()
	for _, d := range []Decision{{Digest: "b", Answer: Allow}, {Digest: "a", Answer: "perhaps"}} {
		if err := Decide(t.Context(), run, d); !errors.Is(err, ErrNotWaiting) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	want := Decision{Digest: "a", Answer: Deny}
	if err := Decide(t.Context(), run, want); err != nil {
		t.Fatal(err)
	}
	if d := <-got; d != want {
		t.Errorf("got %+v, want %+v", d, want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Decide(t.Context(), run, want); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("after the end: %v", err)
	}
	// A hook that was killed leaves its socket behind.
	if w, err = Listen(run); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Decision(over, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
