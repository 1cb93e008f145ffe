package display_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// writes has the workers of a backend write pieces: "!" before the text is stderr,
// "…" after it is a line that has not ended.
func writes(b *hosttest.Backend, pieces ...string) {
	b.OnOutput = func(_ context.Context, _ hosttest.Worker, _ swarm.OutputOptions, each func(swarm.Output) error) error {
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
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	writes(r.One, "one", "\x1b[31mtw…", "!err", "o\x1b[0m", "10%\r20%", "$ …")
	for n, want := range map[int][]string{
		0: {"one", "err", "two", "20%", "$ "},
		3: {"two", "20%", "$ "},
		9: {"one", "err", "two", "20%", "$ "},
	} {
		p, err := r.Display().Peek(t.Context(), "w", n)
		if diff := cmp.Diff(want, p.Lines); err != nil || diff != "" {
			t.Errorf("%d lines: %v (-want +got):\n%s", n, err, diff)
		}
		if p.Screen || p.Taken || p.Worker.Status != worker.StatusRunning {
			t.Errorf("output is taken for %+v", p)
		}
	}
	if _, err := r.Display().Peek(t.Context(), "ghost", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("output of no worker: %v", err)
	}
}

func TestPeekScreen(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapScreen)
	r.MustSpawn(t, "w", "one")
	got, err := r.Display().Peek(t.Context(), "w", 0)
	if err != nil || !got.Screen || got.Taken || !cmp.Equal(got.Lines, []string{"screen of w"}) {
		t.Errorf("%+v, %v", got, err)
	}
	r.One.End(t, "w", swarm.Exit{Code: 3})
	got, err = r.Display().Peek(t.Context(), "w", 0)
	if err != nil || !got.Screen || !got.Taken || got.Worker.Status != worker.StatusStopped {
		t.Errorf("after the end: %+v, %v", got, err)
	}
	// A screen that is gone for good leaves the output.
	r.One.OnScreen = func(hosttest.Worker, swarm.ScreenOptions) (swarm.Screen, error) {
		return swarm.Screen{}, swarm.ErrNotFound
	}
	writes(r.One, "last words")
	got, err = r.Display().Peek(t.Context(), "w", 0)
	if err != nil || got.Screen || !cmp.Equal(got.Lines, []string{"last words"}) {
		t.Errorf("without a screen: %+v, %v", got, err)
	}
	r.One.OnScreen = func(hosttest.Worker, swarm.ScreenOptions) (swarm.Screen, error) {
		return swarm.Screen{}, swarm.ErrUnavailable
	}
	if _, err = r.Display().Peek(t.Context(), "w", 0); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("a screen that can't be seen now: %v", err)
	}
}

func TestAwaitReady(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one")
	r.One.OnOutput = func(ctx context.Context, w hosttest.Worker, o swarm.OutputOptions, each func(swarm.Output) error) error {
		if !o.Follow || o.Tail != nil {
			t.Errorf("asked for %+v", o)
		}
		if err := each(piece("sh-5.2$ …")); err != nil {
			return err
		}
		if w.State != swarm.StateRunning {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := r.Display().AwaitReady(t.Context(), "w", display.ReadyRequest{}); err != nil {
		t.Error(err)
	}
	other := display.ReadyRequest{Pattern: regexp.MustCompile("never"), Timeout: 20 * time.Millisecond}
	if err := r.Display().AwaitReady(t.Context(), "w", other); !errors.Is(err, display.ErrNotReady) {
		t.Errorf("out of time: %v", err)
	}
	r.One.End(t, "w", swarm.Exit{Code: 3})
	other.Timeout = time.Minute
	err := r.Display().AwaitReady(t.Context(), "w", other)
	if !errors.Is(err, worker.ErrEnded) || !strings.Contains(err.Error(), "(exit 3)") {
		t.Errorf("of a worker that has ended: %v", err)
	}
	// It was ready, as its output shows.
	if err := r.Display().AwaitReady(t.Context(), "w", display.ReadyRequest{}); err != nil {
		t.Errorf("of a worker that was ready: %v", err)
	}
	if err := r.Display().AwaitReady(t.Context(), "ghost", other); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no worker: %v", err)
	}
}

func TestAwaitReadyOfStartingWorker(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	writes(r.One, "> …")
	started := make(chan error, 1)
	r.One.AfterSpawn = func(context.Context, swarm.Spec) error {
		go func() { started <- r.Display().AwaitReady(t.Context(), "w", display.ReadyRequest{}) }()
		return nil
	}
	r.MustSpawn(t, "w", "one")
	if err := <-started; err != nil {
		t.Error(err)
	}
}
