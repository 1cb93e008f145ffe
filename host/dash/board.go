package dash

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

// Item is a worker on the board.
type Item struct {
	worker.Worker
	State State
	// Doing is what a person has asked for and is not done yet; its zero value: nothing.
	Doing Pending
	// Figures are the last looks at what it uses, the oldest first; nil if it was not measured.
	Figures []Figure
}

// Pending is an action that is under way.
type Pending struct {
	// Text is "killing", or empty.
	Text string
	// Deadline is when the grace of a kill ends; zero if there is none.
	Deadline time.Time
}

// Figure is what a worker used at one moment.
type Figure struct {
	Time time.Time
	// CPU is the share of one core since the figure before; negative if not known.
	CPU float64
	// Memory is in bytes; negative if not known.
	Memory int64
}

// Board holds the workers of a host. Its methods may be called at the same time.
type Board struct {
	source Source
	redraw func()

	mu    sync.Mutex
	items map[string]*Item
	// read says that the workers were read once.
	read bool
	// unwatched is why the workers are not watched, unread why the last look at them failed;
	// empty if all is well.
	unwatched, unread string
	warnings          []string
	seen              map[string]bool
	doing             map[string]Pending
	figures           map[string][]Figure
	// stale are the ids of workers that have changed; all says that any may have.
	stale map[string]bool
	all   bool
	// undone says that the registry has changed: a worker that was starting may be gone, of
	// which without an event.
	undone bool
	wake   chan struct{}
}

// New returns a board of the workers of a host that is empty until [Board.Run] fills it. After each
// change redraw is called, from any goroutine; nil: nothing is.
func New(s Source, redraw func()) *Board {
	if redraw == nil {
		redraw = func() {}
	}
	return &Board{
		source: s, redraw: redraw, items: map[string]*Item{}, seen: map[string]bool{}, doing: map[string]Pending{},
		figures: map[string][]Figure{}, stale: map[string]bool{}, wake: make(chan struct{}, 1),
	}
}

const (
	// settle is how long a change waits for others that come with it.
	settle = 40 * time.Millisecond
	// fewAtMost is how many workers are asked one by one; more are read all at once.
	fewAtMost = 64
	// idleShare bounds the time spent on reading: after a look that took so long, the
	// board waits for this many times as long.
	idleShare = 10
	// restartLook is how often workers are asked that were started again a short time
	// ago: no event says that they wait for the next start.
	restartLook = 2 * time.Second
	// watchAgain is the pause before a watch that failed begins anew, readAgain that before
	// a look that failed is repeated.
	watchAgain = 2 * time.Second
	readAgain  = 2 * time.Second
)

// Run keeps the board current until ctx ends.
func (b *Board) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	b.touch()
	wg.Go(func() { b.watch(ctx) })
	for {
		var again, retry <-chan time.Time
		if len(b.restarts()) > 0 {
			again = time.After(restartLook)
		}
		if b.failed() {
			retry = time.After(readAgain)
		}
		select {
		case <-ctx.Done():
			return
		case <-retry:
		case <-again:
			if ids := b.restarts(); len(ids) > 0 {
				b.touch(ids...)
			}
		case <-b.wake:
		}
		if sleep.For(ctx, settle) != nil {
			return
		}
		began := time.Now()
		b.refresh(ctx)
		if sleep.For(ctx, time.Since(began)*idleShare-settle) != nil {
			return
		}
	}
}

func (b *Board) watch(ctx context.Context) {
	for {
		err := b.source.Watch(ctx, watch.Request{
			Ready:   func() { b.setProblem(&b.unwatched, ""); b.touch() },
			Changed: b.changed,
			Event: func(e registry.Event) error {
				b.touch(e.ID, e.Previous)
				return nil
			},
			Stopped: func(id string) { b.touch(id) },
			Warn:    b.warn,
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			b.setProblem(&b.unwatched, "cannot watch workers: "+err.Error())
		}
		if sleep.For(ctx, watchAgain) != nil {
			return
		}
	}
}

// setProblem sets one of the two problems of the board.
func (b *Board) setProblem(which *string, text string) {
	b.mu.Lock()
	changed := *which != text
	*which = text
	b.mu.Unlock()
	if changed {
		b.redraw()
	}
}

const warningsKept = 20

func (b *Board) warn(text string) {
	b.mu.Lock()
	b.warnings = append(b.warnings, text)
	b.warnings = b.warnings[max(0, len(b.warnings)-warningsKept):]
	b.mu.Unlock()
	b.redraw()
}

// touch says that workers have changed; without ids any may have.
func (b *Board) touch(ids ...string) {
	b.mu.Lock()
	for _, id := range ids {
		if id != "" {
			b.stale[id] = true
		}
	}
	b.all = b.all || len(ids) == 0
	b.mu.Unlock()
	wake.Up(b.wake)
}

// changed notes that the registry has changed. all says that it is another one.
func (b *Board) changed(all bool) {
	if all {
		b.touch()
		return
	}
	b.mu.Lock()
	b.undone = true
	b.mu.Unlock()
	wake.Up(b.wake)
}

// failed reports whether the last look failed.
func (b *Board) failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unread != ""
}

func (b *Board) refresh(ctx context.Context) {
	b.mu.Lock()
	sel := worker.Selection{States: true}
	for id, i := range b.items {
		if b.undone && i.Status == worker.StatusStarting {
			b.stale[id] = true
		}
	}
	b.undone = false
	if b.all || len(b.stale) > fewAtMost {
		sel.All = true
	} else {
		for id := range b.stale {
			sel.Names = append(sel.Names, id)
		}
	}
	b.stale, b.all = map[string]bool{}, false
	b.mu.Unlock()
	if !sel.All && len(sel.Names) == 0 {
		return
	}
	ws, warnings, err := b.source.Workers(ctx, sel)
	if errors.Is(err, store.ErrNotFound) && !sel.All {
		// One of them is gone, which says nothing of the others.
		sel = worker.Selection{All: true, States: true}
		ws, warnings, err = b.source.Workers(ctx, sel)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		b.mu.Lock()
		for _, id := range sel.Names {
			b.stale[id] = true
		}
		b.all = b.all || sel.All
		b.mu.Unlock()
		b.setProblem(&b.unread, "cannot read workers: "+err.Error())
		return
	}
	b.setProblem(&b.unread, "")
	b.put(ws, sel.All)
	for _, text := range warnings {
		b.warn(text)
	}
	b.redraw()
}

// put takes the answer of the host. all says that it names every worker.
func (b *Board) put(ws []worker.Worker, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = true
	if all {
		b.items = make(map[string]*Item, len(ws))
	}
	for _, w := range ws {
		for _, id := range w.Previous {
			delete(b.items, id)
		}
		b.items[w.ID] = &Item{Worker: w}
	}
	if all {
		maps.DeleteFunc(b.seen, func(id string, _ bool) bool { return b.items[id] == nil })
		maps.DeleteFunc(b.figures, func(id string, _ []Figure) bool { return b.items[id] == nil })
	}
}

// restarts returns the workers that may be waiting for their restart: those that were
// seen to, and those that were started again a short time ago.
func (b *Board) restarts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for id, i := range b.items {
		if i.Status != worker.StatusRunning || i.Restart.When == swarm.RestartNo {
			continue
		}
		if i.PID == 0 || i.Restarts > 0 && time.Since(i.Started) < i.Restart.OrDefault().Window {
			ids = append(ids, id)
		}
	}
	return ids
}

// See notes that a person has seen a worker: has opened it, turned to one of its tabs, or
// visited its page. A selection is not enough: the program may have made it, or the person
// may only have passed by. One that failed and was seen comes after those that run, but
// remains one that failed in [Snapshot.Counts].
func (b *Board) See(id string) {
	b.mu.Lock()
	i := b.items[id]
	fresh := i != nil && i.Gone() && !b.seen[id]
	if fresh {
		b.seen[id] = true
	}
	b.mu.Unlock()
	if fresh {
		b.redraw()
	}
}

func (b *Board) begin(d Pending, ids ...string) {
	b.mu.Lock()
	for _, id := range ids {
		b.doing[id] = d
	}
	b.mu.Unlock()
	b.redraw()
}

func (b *Board) end(ids ...string) {
	b.mu.Lock()
	for _, id := range ids {
		delete(b.doing, id)
	}
	b.mu.Unlock()
	b.touch() // a respawned worker has another id
}

// Measured takes figures of workers, by their ids.
func (b *Board) Measured(figures map[string]Figure) {
	b.mu.Lock()
	for id, f := range figures {
		if b.items[id] == nil {
			continue
		}
		all := append(b.figures[id], f)
		if n := len(all) - FiguresKept; n > 0 {
			all = slices.Clone(all[n:])
		}
		b.figures[id] = all
	}
	b.mu.Unlock()
	b.redraw()
}

// FiguresKept is how many figures of a worker are remembered.
const FiguresKept = 60

// Snapshot is a board at one moment. It does not change.
type Snapshot struct {
	// Items are in the order of urgency.
	Items []Item
	// Read says that the workers were read; else it is not known yet whether there are any.
	Read bool
	// Problem is why the board may not be current; empty: it is.
	Problem string
	// Warnings are one line each, the newest last.
	Warnings []string
}

// Snapshot returns the board as it is now.
func (b *Board) Snapshot() Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := Snapshot{Read: b.read, Problem: strings.Join(slices.DeleteFunc([]string{b.unwatched, b.unread}, func(text string) bool { return text == "" }), "; "), Warnings: slices.Clone(b.warnings), Items: make([]Item, 0, len(b.items))}
	for id, i := range b.items {
		item := *i
		item.State = stateOf(&item.Worker, b.seen[id])
		item.Doing = b.doing[id]
		item.Figures = b.figures[id]
		s.Items = append(s.Items, item)
	}
	slices.SortFunc(s.Items, byUrgency)
	return s
}

// Counts returns how many workers there are of each urgency. One that failed counts as
// failed whether it was seen or not.
func (s Snapshot) Counts() map[Urgency]int {
	counts := map[Urgency]int{}
	for _, i := range s.Items {
		counts[stateOf(&i.Worker, false).Urgency]++
	}
	return counts
}

// Find returns the worker with that id.
func (s Snapshot) Find(id string) (Item, bool) {
	i := slices.IndexFunc(s.Items, func(i Item) bool { return i.ID == id })
	if i < 0 {
		return Item{}, false
	}
	return s.Items[i], true
}

// byUrgency puts the most urgent worker first: the one whose agent has asked something for the
// longest time. Of those that have ended the last one comes first; all others are in the order of
// their names, which does not change.
func byUrgency(a, b Item) int {
	if c := int(a.State.Urgency) - int(b.State.Urgency); c != 0 {
		return c
	}
	if a.State.Urgency == Attention {
		if c := byQuestion(a, b); c != 0 {
			return c
		}
	}
	if a.State.Urgency == Ended {
		if c := b.Ended.Compare(a.Ended); c != 0 {
			return c
		}
	}
	return byName(a, b)
}

// byQuestion puts a worker whose agent asks something before one that does not. The oldest
// question comes first, and one whose age is not known last.
func byQuestion(a, b Item) int {
	since, other := a.State.Since, b.State.Since
	switch {
	case Answer.Suits(a) != Answer.Suits(b):
		if Answer.Suits(a) {
			return -1
		}
		return 1
	case !Answer.Suits(a):
		return 0
	case since.IsZero() != other.IsZero():
		return other.Compare(since)
	default:
		return since.Compare(other)
	}
}
