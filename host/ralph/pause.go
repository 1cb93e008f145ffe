package ralph

import (
	"context"
	"syscall"
	"time"
)

func (l *loop) paused(ctx context.Context) error {
	w, err := l.store.watch(l.name)
	if err != nil {
		return err
	}
	defer w.close()
	said := false
	for {
		// The state is read after the watch has begun, so that no change is missed.
		st, err := l.store.Load(l.name)
		if err != nil {
			return err
		}
		if st.Status != Paused {
			l.log(eventResume, "loop resumed")
			return nil
		}
		if !said {
			said = true
			l.say("paused")
			l.log(eventPause, "loop paused")
		}
		if err := l.change(ctx, w, nil); err != nil {
			return err
		}
	}
}

// change returns when something in the loop's folder has changed, or when over fires.
func (l *loop) change(ctx context.Context, w notices, over <-chan time.Time) error {
	for {
		select {
		case <-over:
			return nil
		case <-w.changes():
			return nil
		case err := <-w.failures():
			return w.failed(err)
		case sig := <-l.signals.ends:
			return l.ended(ctx, sig.(syscall.Signal))
		case <-l.signals.children:
			reap()
		case _, ok := <-l.console.typed:
			l.console.ignore(ok)
		}
	}
}
