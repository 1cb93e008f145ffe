package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/warn"
)

const ownerAgain = time.Second

type owner struct {
	// workers are the records of its running workers.
	workers []registry.Record
	// ended is set once the process has ended.
	ended bool
	// tried are the ids of the workers whose kill was begun.
	tried map[string]bool
	// forget ends the wait.
	forget context.CancelFunc
}

func (w *watchRun) awaitOwners(ctx context.Context, running []registry.Record) {
	workers := map[proc.Identity][]registry.Record{}
	for _, r := range running {
		if r.Owner != nil {
			id := proc.Identity(*r.Owner)
			workers[id] = append(workers[id], r)
		}
	}
	for id, o := range w.owners {
		if len(workers[id]) == 0 {
			o.forget()
			delete(w.owners, id)
		}
	}
	for id, recs := range workers {
		o := w.owners[id]
		switch {
		case o == nil:
			waiting, forget := context.WithCancel(ctx)
			o = &owner{workers: recs, tried: map[string]bool{}, forget: forget}
			w.owners[id] = o
			w.aside(waiting, func() func() {
				awaitEnd(waiting, id)
				return func() { w.ownerEnded(ctx, o) }
			})
		case o.ended:
			o.workers = recs
			w.ownerEnded(ctx, o)
		default:
			o.workers = recs
		}
	}
}

func awaitEnd(ctx context.Context, id proc.Identity) {
	for proc.AwaitEnd(ctx, id) != nil && ctx.Err() == nil {
		_ = sleep.For(ctx, ownerAgain)
	}
}

// ownerEnded kills the workers of an owner whose backends do not do so themselves. It
// works concurrently with the loop.
func (w *watchRun) ownerEnded(ctx context.Context, o *owner) {
	o.ended = true
	var recs []registry.Record
	for _, r := range o.workers {
		if !o.tried[r.ID] {
			o.tried[r.ID] = true
			recs = append(recs, r)
		}
	}
	for _, g := range w.Plugins.Groups(recs, func(registry.Record) bool { return true }) {
		w.aside(ctx, func() func() {
			left := w.askDisowned(ctx, g.Recs)
			return func() {
				for _, r := range left {
					w.killDisowned(ctx, o, r)
				}
			}
		})
	}
}

// askDisowned is like [Watcher.disowned] for workers of one backend. It repeats the
// question until the backend answers.
func (w *watchRun) askDisowned(ctx context.Context, recs []registry.Record) []registry.Record {
	for delay := watchAgain; ; delay = min(2*delay, watchAgainMax) {
		left, err := w.disowned(ctx, recs)
		if err == nil || ctx.Err() != nil {
			return left
		}
		warn.If(w.Logger, err, "the backend of workers whose owner has ended can't be asked")
		_ = sleep.For(ctx, delay)
	}
}

// killDisowned kills a worker concurrently with the loop. If the kill fails, the next look at the
// workers repeats it.
func (w *watchRun) killDisowned(ctx context.Context, o *owner, r registry.Record) {
	w.aside(ctx, func() func() {
		_, err := w.killNow(ctx, r)
		return func() {
			if err != nil && ctx.Err() == nil {
				delete(o.tried, r.ID)
				w.warn(aboutOwner+r.ID, fmt.Sprintf("%s: %v", ownerEnded(r), err))
			} else {
				w.warn(aboutOwner + r.ID)
			}
		}
	})
}
