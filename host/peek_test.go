package host

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// writes has the workers of a backend write pieces: "!" before the text is stderr,
// "…" after it is a line that has not ended.
func (b *fakeBackend) writes(pieces ...string) {
	b.onOutput = func(_ context.Context, _ fakeWorker, _ swarm.OutputOptions, each func(swarm.Output) error) error {
		for _, p := range pieces {
			if err := each(piece(p)); err != nil {
				return err
			}
		}
		return nil
	}
}

func piece(p string) swarm.Output {
	o := swarm.Output{Stream: swarm.Stdout}
	text, stderr := strings.CutPrefix(p, "!")
	if stderr {
		o.Stream = swarm.Stderr
	}
	text, o.Partial = strings.CutSuffix(text, "…")
	o.Data = []byte(text)
	return o
}

func TestPeekOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one")
	r.one.writes("one", "\x1b[31mtw…", "!err", "o\x1b[0m", "10%\r20%", "$ …")
	for n, want := range map[int][]string{
		0: {"one", "err", "two", "20%", "$ "},
		3: {"two", "20%", "$ "},
		9: {"one", "err", "two", "20%", "$ "},
	} {
		p, err := r.Peek(t.Context(), "w", n)
		if diff := cmp.Diff(want, p.Lines); err != nil || diff != "" {
			t.Errorf("%d lines: %v (-want +got):\n%s", n, err, diff)
		}
		if p.Screen || p.Taken || p.Worker.Status != StatusRunning {
			t.Errorf("output is taken for %+v", p)
		}
	}
	if _, err := r.Peek(t.Context(), "ghost", 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody's output: %v", err)
	}
}

func TestPeekScreen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.can("one", swarm.CapScreen)
	r.spawn(t, "w", "one")
	got, err := r.Peek(t.Context(), "w", 0)
	if err != nil || !got.Screen || got.Taken || !cmp.Equal(got.Lines, []string{"screen of w"}) {
		t.Errorf("%+v, %v", got, err)
	}
	r.one.end(t, "w", swarm.Exit{Code: 3})
	got, err = r.Peek(t.Context(), "w", 0)
	if err != nil || !got.Screen || !got.Taken || got.Worker.Status != StatusStopped {
		t.Errorf("after the end: %+v, %v", got, err)
	}
	// A screen that is gone for ever leaves the output.
	r.one.onScreen = func(fakeWorker, swarm.ScreenOptions) (swarm.Screen, error) { return swarm.Screen{}, swarm.ErrNotFound }
	r.one.writes("last words")
	got, err = r.Peek(t.Context(), "w", 0)
	if err != nil || got.Screen || !cmp.Equal(got.Lines, []string{"last words"}) {
		t.Errorf("without a screen: %+v, %v", got, err)
	}
	r.one.onScreen = func(fakeWorker, swarm.ScreenOptions) (swarm.Screen, error) {
		return swarm.Screen{}, swarm.ErrUnavailable
	}
	if _, err = r.Peek(t.Context(), "w", 0); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("a screen that can't be seen now: %v", err)
	}
}

// A program that never ends its line costs no more memory than a part of it.
func TestLinesOfAnEndlessLine(t *testing.T) {
	t.Parallel()
	var text lineReader
	for range 100 {
		text.add(swarm.Output{Data: bytes.Repeat([]byte("x"), 8<<10), Partial: true})
		if n := len(text.open()[0]); n > maxOpen {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	text.add(swarm.Output{Data: []byte("end")})
	if len(text.lines) != 1 || !strings.HasSuffix(text.lines[0], "xend") || len(text.open()) > 0 {
		t.Errorf("%d lines", len(text.lines))
	}
}
