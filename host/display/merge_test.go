package display

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// at is a piece that was written that many milliseconds after the beginning, and is read
// when a reader gets it after that time.
type at struct {
	ms   int
	text string
	// late is how much later it is read.
	late    int
	partial bool
}

// sourceOf gives pieces as a worker's log does.
func sourceOf(name string, begun time.Time, pieces ...at) func(context.Context, func(logPiece) error) LogsEnd {
	return func(ctx context.Context, give func(logPiece) error) LogsEnd {
		for _, p := range pieces {
			written := begun.Add(time.Duration(p.ms) * time.Millisecond)
			select {
			case <-time.After(time.Until(written.Add(time.Duration(p.late) * time.Millisecond))):
			case <-ctx.Done():
				return LogsEnd{Err: ctx.Err()}
			}
			if err := give(logPiece{Output: swarm.Output{Time: written, Data: []byte(p.text), Partial: p.partial}}); err != nil {
				return LogsEnd{Err: err}
			}
		}
		return LogsEnd{Worker: worker.Worker{Spec: registry.Spec{Name: name}}}
	}
}

// mergedOf returns what merge makes of sources that are numbered from 0.
func mergedOf(t *testing.T, follow bool, sources ...[]at) (texts []string) {
	t.Helper()
	begun := time.Now()
	read := make([]func(context.Context, func(logPiece) error) LogsEnd, len(sources))
	for i, pieces := range sources {
		read[i] = sourceOf(fmt.Sprint(i), begun, pieces...)
	}
	err := merge(t.Context(), read, follow, func(i int, p logPiece) error {
		texts = append(texts, fmt.Sprintf("%d:%s", i, p.Data))
		return nil
	}, func(end LogsEnd) { texts = append(texts, "end "+end.Worker.Name) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestMergePast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The second log takes a second to come, and the first waits for it.
		got := mergedOf(t, false,
			[]at{{-90, "a", 0, false}, {-70, "c", 0, true}, {-50, "c", 0, false}, {-30, "e", 0, false}},
			[]at{{-80, "b", 1000, false}, {-60, "d", 1000, false}})
		want := []string{"0:a", "1:b", "0:c", "0:c", "1:d", "end 1", "0:e", "end 0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMergeFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := mergedOf(t, true,
			// Earlier lines come in the order of time, although the second log comes
			// later.
			[]at{
				{-90, "a", 0, false},
				{-70, "c", 0, false},
				// A prompt that stays open holds nothing up for long.
				{600, "prompt", 0, true},
				{1000, "g", 0, false},
			},
			[]at{{-80, "b", 200, false}, {500, "e", 0, false}, {700, "f", 0, false}})
		want := []string{"0:a", "1:b", "0:c", "1:e", "0:prompt", "1:f", "end 1", "0:g", "end 0"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestMergeManyQuiet: pieces of many workers that write little are not held back one after
// the other, nor by a worker whose line never ends.
func TestMergeManyQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const many = 200
		begun := time.Now()
		read := make([]func(context.Context, func(logPiece) error) LogsEnd, many+1)
		for i := range many {
			read[i] = sourceOf("quiet", begun, at{-1000 + i, "old", 0, false}, at{1000 + i, "new", 0, false}, at{9000, "last", 0, false})
		}
		dots := make([]at, 400)
		for i := range dots {
			dots[i] = at{20 * i, ".", 0, true}
		}
		read[many] = sourceOf("dots", begun, dots...)
		seen, last := 0, begun
		err := merge(t.Context(), read, true, func(_ int, p logPiece) error {
			if late := time.Since(p.read); late > firstPatience+linePatience {
				t.Errorf("%q was held back for %s", p.Data, late)
			}
			if string(p.Data) == "old" {
				seen++
				last = time.Now()
			}
			return nil
		}, func(LogsEnd) {}, nil)
		if took := last.Sub(begun); err != nil || seen != many || took > firstPatience+linePatience {
			t.Errorf("%d old pieces after %s, %v", seen, took, err)
		}
	})
}

// TestMergeEnds: an error of the reader ends all sources, and so does the context.
func TestMergeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		many := make([]at, 3*queued)
		for i := range many {
			many[i] = at{ms: i, text: "x"}
		}
		enough := errors.New("enough")
		for n := range 3 {
			read := make([]func(context.Context, func(logPiece) error) LogsEnd, n+1)
			for i := range read {
				read[i] = sourceOf("x", time.Now(), many...)
			}
			err := merge(t.Context(), read, true, func(int, logPiece) error { return enough }, func(LogsEnd) {}, nil)
			if !errors.Is(err, enough) {
				t.Errorf("%d sources: %v", n+1, err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			err = merge(ctx, read, true, func(int, logPiece) error { cancel(enough); return nil }, func(LogsEnd) {}, nil)
			if !errors.Is(err, enough) {
				t.Errorf("%d sources, the context: %v", n+1, err)
			}
		}
	})
}
