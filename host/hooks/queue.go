package hooks

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
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
				q.opts.Say(fmt.Sprintf("%s is held up: %s", q.hook.title(), text))
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
// returns when there is more to do: zero if that is when an event is added. A notifier gets no new
// event while one is to be delivered again.
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
	if q.hook.Notifier != "" && !next.IsZero() {
		return next, nil
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
			q.opts.Say(fmt.Sprintf("%s was overtaken: %s", q.hook.title(), history.Overtaken(removed)))
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
			q.opts.Say(fmt.Sprintf("%s is not run again for event number %d: it is not in the history any more", q.hook.title(), again.Seq))
			return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return tx.DeleteRetry(ctx, q.hook.Name, again.Seq) })
		}
		e = &rows[0]
		return nil
	})
	return again, e, err
}

// outcome is how the delivery of an event ended; the zero value: well.
type outcome struct {
	// failure is why the event is to be delivered again; empty: it is not.
	failure string
	// again is when a notifier asked for it; zero: it did not.
	again time.Time
	// dropped is why a notifier can never deliver the event, problem is what it reports of one
	// that it has accepted.
	dropped, problem string
}

// deliver runs the command for an event for which it was run tries times before, and writes
// down the outcome. If ctx ends meanwhile, nothing is written: the event comes again.
func (q *queue) deliver(ctx context.Context, e registry.Event, tries int) (err error) {
	words := q.hook.wants(e)
	if len(words) == 0 { // since its last run the hook was changed
		return q.settle(ctx, e, tries, outcome{})
	}
	d := Delivery{Event: e, Hook: q.hook.Name, On: words, Attempt: tries + 1}
	var o outcome
	if q.hook.Notifier != "" {
		o, err = q.notify(ctx, d)
	} else {
		var r Result
		r, err = q.launch(ctx, q.hook, d)
		o.failure = r.Failure
	}
	if err != nil {
		return err
	}
	return q.settle(ctx, e, tries+1, o)
}

// notify delivers an event to the notifier. The error is that of ctx.
func (q *queue) notify(ctx context.Context, d Delivery) (o outcome, err error) {
	e := d.Event
	a, err := q.opts.Notifiers.Notify(ctx, q.hook.Notifier, swarm.Event{
		ID: EventID(e), Time: e.Time, Kind: string(e.Kind), Worker: e.Worker, WorkerID: e.ID, Text: e.Text, Final: e.Final,
		Exit: e.Exit, Tags: e.Tags, On: d.On, Attempt: d.Attempt,
	})
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	reason := safetext.Line(a.Reason)
	switch {
	case err != nil:
		o.failure = safetext.Line(errtext.Line(err))
	case a.Outcome == swarm.NotifyAccepted:
		o.problem = reason
	case a.Outcome == swarm.NotifyNever:
		o.dropped = cmp.Or(reason, "it gives no reason")
	default:
		o.failure, o.again = cmp.Or(reason, "it gives no reason"), a.Again
	}
	return o, nil
}

// settle writes down the outcome of a run, which was the one of that number for its event.
// It tries until it has, so that a full disk does not run the command again and again.
func (q *queue) settle(ctx context.Context, e registry.Event, tries int, o outcome) error {
	again := registry.Retry{Seq: e.Seq, Tries: tries}
	givenUp := o.failure != "" && q.hook.Notifier == "" && tries > len(q.opts.Delays)
	if o.failure != "" && !givenUp {
		again.Next = q.next(tries, o.again)
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
			q.opts.Say(fmt.Sprintf("it can't be recorded that %s was run for event %s: %v", q.hook.title(), EventID(e), err))
		}
		if err := sleep.For(ctx, againAfter); err != nil {
			return err
		}
	}
	q.report(e, tries, o, givenUp)
	q.failing = o.failure != ""
	return nil
}

// next returns when an event is delivered again after so many tries. A notifier that asked for a
// time gets it, within bounds.
func (q *queue) next(tries int, asked time.Time) time.Time {
	at := time.Now()
	if asked.IsZero() {
		return at.Add(q.opts.Delays[min(tries, len(q.opts.Delays))-1])
	}
	soonest, latest := at.Add(q.opts.Delays[0]), at.Add(swarm.MaxNotifyDelay)
	switch {
	case asked.Before(soonest):
		return soonest
	case asked.After(latest):
		return latest
	}
	return asked
}

// report says what a person should know of an outcome.
func (q *queue) report(e registry.Event, tries int, o outcome, givenUp bool) {
	event := fmt.Sprintf("event %s (%s)", EventID(e), e)
	switch title := q.hook.title(); {
	case givenUp:
		q.opts.Say(fmt.Sprintf("%s is given up for %s after %d attempts: %s; see %s",
			title, event, tries, o.failure, LogPath(q.opts.Dir, q.hook.Name)))
	case o.dropped != "":
		q.opts.Say(fmt.Sprintf("%s never delivers %s: %s", title, event, o.dropped))
	case o.problem != "":
		q.opts.Say(fmt.Sprintf("%s has accepted %s with a problem: %s", title, event, o.problem))
	case o.failure == "" || q.failing:
	case q.hook.Notifier != "":
		q.opts.Say(fmt.Sprintf("%s can't deliver %s now: %s; it gets this event again, and later ones after it", title, event, o.failure))
	default:
		q.opts.Say(fmt.Sprintf("%s failed for event %s: %s; it is run again in %s; see %s",
			title, EventID(e), o.failure, q.opts.Delays[tries-1], LogPath(q.opts.Dir, q.hook.Name)))
	}
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
