package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
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

// aside runs f, which may take long, concurrently with the loop. The loop then calls result.
func (w *watchRun) aside(ctx context.Context, f func() (result func())) {
	w.listening.Go(func() {
		select {
		case w.results <- f():
		case <-ctx.Done():
		}
	})
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
	for _, g := range w.opts.Plugins.Groups(recs, func(registry.Record) bool { return true }) {
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
		w.warnIf(err, "the backend of workers whose owner has ended can't be asked")
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

// agents records the states of the agents of all teams. It works concurrently with the loop,
// since it asks backends and may end the server of a team.
func (w *watchRun) agents(ctx context.Context) {
	if w.sweeping {
		return
	}
	w.sweeping = true
	w.aside(ctx, func() func() {
		warnings, err := w.opts.Sweeper.Sweep(ctx, "")
		w.opts.Notifier.Wake(ctx, "") // notifiers wait for some time only
		return func() {
			w.sweeping, w.sweep = false, time.Time{}
			if err != nil && ctx.Err() == nil {
				warnings = append(warnings, fmt.Sprintf("cannot supervise agents: %v", err))
			}
			w.warn(aboutAgents, warnings...)
			w.expectAgents(ctx)
		}
	})
}

// expectAgents schedules the next sweep if there are agents: no event reports their
// silence.
func (w *watchRun) expectAgents(ctx context.Context) {
	some, err := w.opts.Liveness.Any(ctx)
	if some || err != nil {
		w.sweep = time.Now().Add(sweepEvery)
	}
}

// trimEvents removes old events concurrently with the loop, since there may be many.
func (w *watchRun) trimEvents(ctx context.Context) {
	w.trim = time.Time{}
	reg := w.reg
	w.aside(ctx, func() func() {
		var done Collected
		done.events(ctx, w.Watcher, reg)
		return func() {
			w.trim = time.Now().Add(trimEvery)
			w.warn(aboutEvents, done.Warnings...)
		}
	})
}

func (w *watchRun) looks(ctx context.Context) {
	if w.looking {
		return
	}
	w.looking = true
	reg := w.reg
	w.aside(ctx, func() func() {
		recs, _, err := reg.Read(ctx, registry.Query{State: registry.Running})
		if err == nil {
			recs = w.opts.Display.Profiled(recs)
			if len(recs) > 0 {
				err = w.reportStates(ctx, reg, recs)
			}
		}
		return func() {
			w.looking, w.look = false, time.Time{}
			if ctx.Err() == nil {
				w.warnIf(err, "the states of agents can't be recorded")
			}
			if len(recs) > 0 {
				w.look = time.Now().Add(lookEvery)
			}
		}
	})
}

// renew opens the database anew if a rebuild has replaced the file, and reports whether it
// did. While no file is in place it keeps the open one.
func (w *watchRun) renew(ctx context.Context) bool {
	file, err := os.Stat(filepath.Join(string(w.opts.Dir), registry.File))
	if err != nil || os.SameFile(file, w.file) {
		return false
	}
	w.opts.Store.Reopen()
	reg, err := w.opts.Store.ToWrite(ctx)
	if err != nil {
		w.warnIf(err, "the new registry can't be opened")
		return false
	}
	w.reg, w.file = reg, file
	return true
}
