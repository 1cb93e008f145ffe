package hooks

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/sleep"
)

const (
	// batchSize is how many events are read at a time.
	batchSize = 256
	// storeEvery is after how many events that a hook is not run for its cursor is stored.
	storeEvery = 200
	// againAfter is the pause after the registry could not be used.
	againAfter = 5 * time.Second
)

type queue struct {
	*Runner
	hook *Hook
	wake <-chan struct{}

	// generation counts the database that the following fields were read from.
	generation int
	// seen is the last event that was dealt with, stored is the cursor in the registry.
	seen, stored int64
	// removed is how far the history was cut when events were read last.
	removed int64
	// events are the next ones.
	events []registry.Event
	// failing says that the last run failed, heldUp is why the last step did.
	failing bool
	heldUp  string
}

func (q *queue) run(ctx context.Context) {
	for ctx.Err() == nil {
		next, err := q.step(ctx)
		if ctx.Err() != nil {
			break
		}
		pause := time.Until(next)
		switch {
		case err != nil:
			if text := err.Error(); text != q.heldUp {
				q.heldUp = text
				q.opts.Say(fmt.Sprintf("hook '%s' is held up: %s", q.hook.Name, text))
			}
			pause = againAfter
		case next.IsZero():
			pause = time.Hour
		case pause <= 0:
			continue
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-time.After(pause):
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
	defer cancel()
	_ = q.store(ctx) // events that it is not run for are looked at again
}

// now is what step returns if there is more to do at once.
var now = time.Unix(0, 1)

// step runs the command once for an event that is due again and once for a new event. It
// returns when there is more to do: zero if that is when an event is added.
func (q *queue) step(ctx context.Context) (next time.Time, err error) {
	if err := q.load(ctx); err != nil {
		return next, err
	}
	again, e, err := q.due(ctx)
	if err != nil {
		return next, err
	}
	next = again.Next
	if e != nil {
		next = now
		if err := q.deliver(ctx, *e, again.Tries); err != nil {
			return next, err
		}
	}
	for len(q.events) > 0 {
		e := q.events[0]
		if len(q.hook.wants(e)) == 0 {
			q.seen, q.events = e.Seq, q.events[1:]
			next = now // there may be more in the registry
			continue
		}
		if err := q.deliver(ctx, e, 0); err != nil {
			return next, err
		}
		q.seen, q.stored, q.events = e.Seq, e.Seq, q.events[1:]
		return now, nil
	}
	if q.seen-q.stored >= storeEvery {
		err = q.store(ctx)
	}
	return next, err
}

// load reads the next events if there are none in memory.
func (q *queue) load(ctx context.Context) error {
	return q.ledger.use(ctx, func(reg *registry.Registry, generation int) (err error) {
		if generation != q.generation {
			last, err := reg.LastEvent(ctx)
			if err != nil {
				return err
			}
			cursor, ok, err := reg.HookCursor(ctx, q.hook.Name)
			if err != nil {
				return err
			}
			if !ok || cursor > last { // a history that was rebuilt may be shorter
				cursor = last
				err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return tx.SetHookCursor(ctx, q.hook.Name, last) })
				if err != nil {
					return err
				}
			}
			q.seen, q.stored, q.events = cursor, cursor, nil
			q.generation = generation
		}
		if len(q.events) > 0 {
			return nil
		}
		removed, err := reg.RemovedEvents(ctx)
		if err != nil {
			return err
		}
		if removed > max(q.removed, q.seen) {
			q.opts.Say(fmt.Sprintf("hook '%s' was overtaken: %s", q.hook.Name, history.Overtaken(removed)))
		}
		q.removed = removed
		q.events, err = reg.Events(ctx, registry.EventQuery{After: q.seen, First: batchSize})
		return err
	})
}

// due returns the next event that the command is to be run for again, and nil in place of
// the event if that is not due yet.
func (q *queue) due(ctx context.Context) (again registry.Retry, e *registry.Event, err error) {
	err = q.ledger.use(ctx, func(reg *registry.Registry, _ int) error {
		var ok bool
		if again, ok, err = reg.NextRetry(ctx, q.hook.Name); err != nil || !ok || time.Now().Before(again.Next) {
			return err
		}
		rows, err := reg.Events(ctx, registry.EventQuery{After: again.Seq - 1, First: 1})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Seq != again.Seq { // it was removed, or lost with a damaged database
			q.opts.Say(fmt.Sprintf("hook '%s' is not run again for event number %d: it is not in the history any more", q.hook.Name, again.Seq))
			return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return tx.DeleteRetry(ctx, q.hook.Name, again.Seq) })
		}
		e = &rows[0]
		return nil
	})
	return again, e, err
}

// deliver runs the command for an event for which it was run tries times before, and writes
// down the outcome. If ctx ends meanwhile, nothing is written: the event comes again.
func (q *queue) deliver(ctx context.Context, e registry.Event, tries int) error {
	words := q.hook.wants(e)
	if len(words) == 0 { // since its last run the hook was changed
		return q.settle(ctx, e, tries, Result{})
	}
	r, err := q.launch(ctx, q.hook, Delivery{Event: e, Hook: q.hook.Name, On: words, Attempt: tries + 1})
	if err != nil {
		return err
	}
	return q.settle(ctx, e, tries+1, r)
}

// settle writes down the outcome of a run, which was the one of that number for its event.
// It tries until it has, so that a full disk does not run the command again and again.
func (q *queue) settle(ctx context.Context, e registry.Event, tries int, r Result) error {
	again := registry.Retry{Seq: e.Seq, Tries: tries}
	givenUp := r.Failure != "" && tries > len(q.opts.Delays)
	if r.Failure != "" && !givenUp {
		again.Next = time.Now().Add(q.opts.Delays[tries-1])
	}
	for said := false; ; {
		err := q.ledger.change(context.WithoutCancel(ctx), func(ctx context.Context, tx *registry.Tx) error {
			if e.Seq > q.seen {
				if err := tx.SetHookCursor(ctx, q.hook.Name, e.Seq); err != nil {
					return err
				}
			}
			if again.Next.IsZero() {
				return tx.DeleteRetry(ctx, q.hook.Name, e.Seq)
			}
			return tx.SetRetry(ctx, q.hook.Name, again)
		})
		if err == nil {
			break
		}
		if !said {
			said = true
			q.opts.Say(fmt.Sprintf("it can't be recorded that hook '%s' was run for event %s: %v", q.hook.Name, EventID(e), err))
		}
		if err := sleep.For(ctx, againAfter); err != nil {
			return err
		}
	}
	switch {
	case givenUp:
		q.opts.Say(fmt.Sprintf("hook '%s' is given up for event %s (%s) after %d attempts: %s; see %s",
			q.hook.Name, EventID(e), e, tries, r.Failure, LogPath(q.opts.Dir, q.hook.Name)))
	case r.Failure != "" && !q.failing:
		q.opts.Say(fmt.Sprintf("hook '%s' failed for event %s: %s; it is run again in %s; see %s",
			q.hook.Name, EventID(e), r.Failure, q.opts.Delays[tries-1], LogPath(q.opts.Dir, q.hook.Name)))
	}
	q.failing = r.Failure != ""
	return nil
}

func (q *queue) store(ctx context.Context) error {
	if q.seen <= q.stored {
		return nil
	}
	seen := q.seen
	err := q.ledger.change(ctx, func(ctx context.Context, tx *registry.Tx) error { return tx.SetHookCursor(ctx, q.hook.Name, seen) })
	if err == nil {
		q.stored = seen
	}
	return err
}
