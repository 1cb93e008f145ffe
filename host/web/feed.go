package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
)

// feed gives a board to many streams: each waits for the next change by itself.
type feed struct {
	*dash.Board
	meter meter

	mu sync.Mutex
	// changed is closed at the next change.
	changed chan struct{}
	// watching is how many streams there are; someone gets a value at the first one.
	watching int
	wanted   chan struct{}
}

type meter interface {
	Look(ctx context.Context, sel worker.Selection) ([]stats.Figures, []string, error)
}

type snapshot struct {
	dash.Snapshot
	// changed is closed when there is a newer snapshot.
	changed <-chan struct{}
}

func newFeed(h Host) *feed {
	f := &feed{meter: h.Meter(), changed: make(chan struct{}), wanted: make(chan struct{}, 1)}
	f.Board = dash.New(dash.Options{Host: h, Changed: f.announce})
	return f
}

func (f *feed) run(ctx context.Context) {
	var measuring sync.WaitGroup
	defer measuring.Wait()
	measuring.Go(func() { f.measure(ctx) })
	f.Run(ctx)
}

func (f *feed) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) now() snapshot {
	f.mu.Lock()
	changed := f.changed // before the snapshot, so that no change is missed
	f.mu.Unlock()
	return snapshot{Snapshot: f.Snapshot(), changed: changed}
}

// first returns the present snapshot, and waits a moment for the first look.
func (f *feed) first(ctx context.Context) snapshot {
	limit := time.NewTimer(2 * time.Second)
	defer limit.Stop()
	for {
		s := f.now()
		if s.Read || s.Problem != "" {
			return s
		}
		select {
		case <-s.changed:
		case <-limit.C:
			return s
		case <-ctx.Done():
			return s
		}
	}
}

func (s snapshot) find(name string) (dash.Item, bool) {
	i := slices.IndexFunc(s.Items, func(i dash.Item) bool { return i.Name == name || i.ID == name })
	if i < 0 {
		return dash.Item{}, false
	}
	return s.Items[i], true
}

// watched notes that a stream has begun; the caller calls gone at its end.
func (f *feed) watched() (gone func()) {
	f.mu.Lock()
	f.watching++
	f.mu.Unlock()
	select {
	case f.wanted <- struct{}{}:
	default:
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watching--
	}
}

// measureEvery is the time between two looks at what workers use, firstMeasure that between
// the first two, which the first share of a CPU is computed from.
const measureEvery, firstMeasure = 2 * time.Second, 300 * time.Millisecond

func (f *feed) measure(ctx context.Context) {
	again := firstMeasure
	for {
		f.mu.Lock()
		watching := f.watching > 0
		f.mu.Unlock()
		if !watching {
			again = firstMeasure
			select {
			case <-ctx.Done():
				return
			case <-f.wanted:
			}
		}
		began := time.Now()
		if all, _, err := f.meter.Look(ctx, worker.Selection{}); err == nil {
			f.Measured(dash.FiguresOf(all))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(again, 20*time.Since(began))):
			again = measureEvery
		}
	}
}

// problemOf is why a snapshot may not be current, in one line.
func problemOf(s snapshot) string { return safetext.Line(s.Problem) }
