package nomad

import (
	"context"
	"testing"
	"time"
)

// After a restore from a backup the engine's index is lower than what was seen before.
// A waiting call gets the current snapshot, and the changes that follow.
func TestFeedAfterRestore(t *testing.T) {
	t.Parallel()
	answers := make(chan uint64)
	all := feeds{look: func(ctx context.Context, _ place, _ string, _ uint64) (snapshot, error) {
		select {
		case index := <-answers:
			return snapshot{index: index}, nil
		case <-ctx.Done():
			return snapshot{}, ctx.Err()
		}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	last := snapshot{index: 100, asked: time.Now()}
	f, leave := all.join(ctx, place{})
	defer leave()
	// expect waits for a snapshot of that index while the engine answers.
	expect := func(want uint64, said ...uint64) {
		t.Helper()
		go func() {
			for _, index := range said {
				select {
				case answers <- index:
				case <-ctx.Done():
				}
			}
		}()
		s, err := f.after(ctx, last)
		if err != nil || s.index != want {
			t.Fatalf("after %d: %d, %v, want %d", last.index, s.index, err, want)
		}
		last = s
	}
	expect(40, 40)
	expect(41, 41)
	// The index may also fall while the feed asks: that question was asked before the restore.
	expect(7, 5, 7)
	expect(8, 8)
}

// A feed does not report changes that its user has seen already.
func TestFeedDropsOlderSnapshots(t *testing.T) {
	t.Parallel()
	now := time.Now()
	last := snapshot{index: 10, asked: now}
	for _, s := range []snapshot{{}, {index: 9, asked: now.Add(-time.Second)}, {index: 10, asked: now.Add(time.Second)}} {
		if s.newer(last) {
			t.Errorf("%+v is newer than %+v", s, last)
		}
	}
}
