package display

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/output"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// A screen is looked at when its worker has written something and been quiet for
// screenQuiet, at the latest after screenBusy: a program that draws all the time
// shows something too. It may show what was written a moment after that was read
// here, so it is looked at again after each of screenAgain, which add up to more than
// unknownFor.
const (
	screenQuiet = 50 * time.Millisecond
	screenBusy  = 250 * time.Millisecond
)

var screenAgain = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second}

var errReady = errors.New("ready")

// followReady follows the output of a worker and returns nil once it is ready. If the
// worker ends before, the error is [swarm.ErrNotFound].
func followReady(ctx context.Context, p *backend.Peer, handle swarm.Handle, r ReadyRequest) error {
	screen := p.Has(swarm.CapScreen)
	var written func([]string) bool
	if r.Pattern != nil || !screen {
		// The programs that the patterns are for draw screens, of which single lines
		// of output say little. A pattern of the caller may mean either.
		written = r.ready
	}
	if !screen {
		return readOutput(ctx, p, handle, written)
	}
	return followScreen(ctx, p, handle, written, func(s swarm.Screen) (bool, time.Duration) {
		return !s.Taken && r.ready(s.Lines), 0
	})
}

// followScreen looks at a worker's screen, at once, whenever the worker has written something,
// and once more after the time that shown returns if that is not 0, until shown says so of
// it, or written, unless it is nil, of lines of output: nil. A worker that ends before is
// [swarm.ErrNotFound].
func followScreen(ctx context.Context, p *backend.Peer, handle swarm.Handle, written func([]string) bool, shown lookFunc) error {
	ctx, cancel := context.WithCancel(ctx)
	more := make(chan struct{}, 1)
	over := make(chan error, 1)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() {
		over <- readOutput(ctx, p, handle, func(lines []string) bool {
			wake.Up(more)
			return written != nil && written(lines)
		})
	})
	return watchScreen(ctx, p, handle, shown, more, over)
}

// lookFunc looks at a screen. It reports whether that is enough, and otherwise when the same
// screen is to be looked at once more; 0: when the worker has written something.
type lookFunc func(swarm.Screen) (done bool, again time.Duration)

// readOutput reads a worker's output, what was written before too, until ready says
// so of what is new: nil. Its end is [swarm.ErrNotFound].
func readOutput(ctx context.Context, p *backend.Peer, handle swarm.Handle, ready func(lines []string) bool) error {
	text := output.Reader{Live: true}
	err := p.Backend.Output(ctx, handle, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		text.Add(o)
		lines := append(text.Take(), text.Open()...)
		if ready(lines) {
			return errReady
		}
		return nil
	})
	switch {
	case errors.Is(err, errReady):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return swarm.ErrNotFound
	default:
		return err
	}
}

// watchScreen looks at a worker's screen, at once and whenever written says that the
// worker has written something, until shown says so of it.
// over is how the reading of its output ended.
func watchScreen(ctx context.Context, p *backend.Peer, handle swarm.Handle, shown lookFunc, written <-chan struct{}, over <-chan error) error {
	look := time.NewTimer(0)
	defer look.Stop()
	var since time.Time // of the first output that was not looked at
	again := 0
	for {
		select {
		case err := <-over:
			return err
		case <-written:
			if since.IsZero() {
				since = time.Now()
			}
			again = 0
			look.Reset(min(screenQuiet, max(0, screenBusy-time.Since(since))))
		case <-look.C:
			since = time.Time{}
			s, err := p.Backend.Screen(ctx, handle, swarm.ScreenOptions{Styles: true})
			var later time.Duration
			if err == nil {
				var done bool
				if done, later = shown(s); done {
					return nil
				}
			}
			// A screen that can't be seen now may be seen later, or has ended, which
			// the output shows.
			switch {
			case again < len(screenAgain):
				next := screenAgain[again]
				if later > 0 {
					next = min(next, later)
				}
				look.Reset(next)
				again++
			case later > 0:
				look.Reset(later)
			}
		}
	}
}
