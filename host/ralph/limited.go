package ralph

import (
	"context"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"
)

// clockEvery is how often the clock is looked at while the loop waits for a time of day: a
// machine that sleeps stops timers.
const clockEvery = time.Minute

// tellLimit says that the loop waits for the end of a usage limit.
func (l *loop) tellLimit(st *State) {
	text := fmt.Sprintf("until %s: %s", st.LimitUntil.Local().Format("2006-01-02 15:04:05"), st.Limit)
	l.say("usage limit, waiting %s", text)
	l.log(eventLimit, "iteration %d: usage limit, waiting %s", st.Iteration, text)
	l.notify(NoteLimited, text)
}

// waitLimit waits for the end of a usage limit, if the state tells of one, or until
// somebody resumes the loop or removes its state.
func (l *loop) waitLimit(ctx context.Context) error {
	st, err := l.store.Load(l.name)
	if err == nil && st.Status == Stopped && st.ExitReason == ReasonKilled && !st.LimitUntil.IsZero() {
		// Its worker was started again.
		st, err = l.store.Change(ctx, l.name, func(st *State) error {
			st.Status, st.ExitReason = Running, ""
			return nil
		})
	}
	if err != nil || st.LimitUntil.IsZero() || st.Status != Running {
		return err
	}
	w, err := l.store.watch(l.name)
	if err != nil {
		return err
	}
	defer w.close()
	return l.awaitLimit(ctx, w)
}

// notices tell of changes in the folder of a loop.
type notices interface {
	changes() <-chan fsnotify.Event
	failures() <-chan error
	failed(err error) error
}

// awaitLimit waits until the state tells of no usage limit any more, or of one that is
// over.
func (l *loop) awaitLimit(ctx context.Context, w notices) error {
	for {
		st, err := l.store.Load(l.name)
		if err != nil {
			return err
		}
		if st.LimitUntil.IsZero() {
			break
		}
		// Without what is monotonic in it: that stops while the machine sleeps.
		left := st.LimitUntil.Sub(time.Now().Round(0))
		if left <= 0 {
			_, err := l.store.Change(ctx, l.name, func(st *State) error {
				st.LimitUntil, st.Limit = time.Time{}, ""
				return nil
			})
			if err != nil {
				return err
			}
			break
		}
		if err := l.waitClock(ctx, w, min(left, clockEvery)); err != nil {
			return err
		}
	}
	l.log(eventResume, "going on after the usage limit")
	return nil
}

// waitClock waits for a duration, or until something in the loop's folder changes.
func (l *loop) waitClock(ctx context.Context, w notices, d time.Duration) error {
	over := time.NewTimer(d)
	defer over.Stop()
	return l.change(ctx, w, over.C)
}
