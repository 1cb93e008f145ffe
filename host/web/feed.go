package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/dash"
)

// feed gives a board to many streams: each waits for the next change by itself.
type feed struct {
	*dash.Board
	gauge *dash.Gauge

	mu sync.Mutex
	// changed is closed at the next change.
	changed chan struct{}
	// watching is how many streams there are.
	watching int
}

// measureEvery is the time between two looks at what workers use, and measureShare how many times
// as long as the look itself it is at least.
const measureEvery, measureShare = 2 * time.Second, 20

type snapshot struct {
	dash.Snapshot
	// changed is closed when there is a newer snapshot.
	changed <-chan struct{}
}

func newFeed(h Host) *feed {
	f := &feed{changed: make(chan struct{})}
	f.Board = dash.New(h, f.announce)
	f.gauge = f.Gauge(h.Meter(), measureEvery, measureShare)
	return f
}

func (f *feed) run(ctx context.Context) {
	var measuring sync.WaitGroup
	defer measuring.Wait()
	measuring.Go(func() { f.gauge.Run(ctx) })
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
	f.watch(1)
	return func() { f.watch(-1) }
}

func (f *feed) watch(streams int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watching += streams
	f.gauge.Want(nil, f.watching > 0)
}
