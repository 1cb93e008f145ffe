package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/safetext"
)

// feed keeps the workers of a host current, driven by the events of its watch.
type feed struct {
	host Host
	wake chan struct{}

	mu      sync.Mutex
	workers []item
	read    bool
	problem string
	// changed is closed at the next change.
	changed chan struct{}
}

// item is a worker, and how it is.
type item struct {
	host.Worker
	Condition condition.Condition
}

// snapshot is what a feed knows at one moment.
type snapshot struct {
	// items are in the order of urgency.
	items []item
	// read says that the workers were read once.
	read bool
	// problem is why the items may not be current; empty: they are.
	problem string
	// changed is closed when there is a newer snapshot.
	changed <-chan struct{}
}

func newFeed(h Host) *feed {
	return &feed{host: h, wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

const (
	// settle is how long a change waits for others that come with it.
	settle = 50 * time.Millisecond
	// idleShare bounds the time spent on reading: after a look that took so long, the next
	// one waits for this many times as long.
	idleShare = 10
	// restartLook is how often workers are read while one of them waits for its restart,
	// which no event tells.
	restartLook = 2 * time.Second
	// watchAgain is the pause before a watch that failed begins anew.
	watchAgain = 2 * time.Second
)

// run keeps the feed current until ctx ends.
func (f *feed) run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { f.watch(ctx) })
	f.stir()
	for {
		var again <-chan time.Time
		if f.awaitsRestart() {
			again = time.After(restartLook)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-f.wake:
		}
		if !pause(ctx, settle) {
			return
		}
		began := time.Now()
		f.look(ctx)
		if !pause(ctx, time.Since(began)*idleShare-settle) {
			return
		}
	}
}

// stir asks for a new look.
func (f *feed) stir() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// pause waits for a time and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// watch asks for a new look at each event, until ctx ends.
func (f *feed) watch(ctx context.Context) {
	for {
		err := f.host.Watch(ctx, watch.Request{
			Ready: f.stir,
			Event: func(history.Event) error {
				f.stir()
				return nil
			},
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.fail("cannot watch workers: " + safetext.Line(err.Error()))
		}
		if !pause(ctx, watchAgain) {
			return
		}
	}
}

// look reads the workers.
func (f *feed) look(ctx context.Context) {
	ws, _, err := f.host.Workers(ctx, host.Selection{All: true, States: true})
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		f.fail("cannot read the workers: " + safetext.Line(err.Error()))
		return
	}
	items := make([]item, len(ws))
	for i, w := range ws {
		items[i] = item{Worker: w, Condition: condition.Of(w)}
	}
	slices.SortStableFunc(items, func(a, b item) int { return condition.Compare(a.Condition, b.Condition) })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers, f.read, f.problem = items, true, ""
	f.announce()
}

func (f *feed) fail(problem string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.problem != problem {
		f.problem = problem
		f.announce()
	}
}

// announce tells of a change. The lock is held.
func (f *feed) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) awaitsRestart() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.workers, func(i item) bool { return i.BetweenStarts() })
}

// now returns the present snapshot.
func (f *feed) now() snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return snapshot{items: f.workers, read: f.read, problem: f.problem, changed: f.changed}
}

// first returns the present snapshot, and waits a moment for the first look.
func (f *feed) first(ctx context.Context) snapshot {
	limit := time.NewTimer(2 * time.Second)
	defer limit.Stop()
	for {
		s := f.now()
		if s.read || s.problem != "" {
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

// find returns the worker with that name or id.
func (s snapshot) find(name string) (item, bool) {
	i := slices.IndexFunc(s.items, func(i item) bool { return i.Name == name || i.ID == name })
	if i < 0 {
		return item{}, false
	}
	return s.items[i], true
}
