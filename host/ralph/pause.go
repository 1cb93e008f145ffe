package ralph

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// paused waits until the loop is resumed. The state is replaced whole, so it is its
// folder that is watched.
func (l *loop) paused(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the ralph state of '%s': %w", l.name, err)
	}
	defer w.Close()
	if err := w.Add(l.store.Dir(l.name)); err != nil {
		return fmt.Errorf("watch the ralph state of '%s': %w", l.name, err)
	}
	said := false
	for {
		// After the watch has begun, so that no change is missed.
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
		if err := l.change(ctx, w); err != nil {
			return err
		}
	}
}

// change returns when something in the folder has changed.
func (l *loop) change(ctx context.Context, w *fsnotify.Watcher) error {
	for {
		select {
		case <-w.Events:
			return nil
		case err := <-w.Errors:
			// After too many events at once some are missing.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch the ralph state of '%s': %w", l.name, err)
			}
			return nil
		case sig := <-l.signals.ends:
			return l.ended(ctx, sig.(syscall.Signal))
		case <-l.signals.children:
			reap()
		case _, ok := <-l.console.typed:
			l.console.ignore(ok)
		}
	}
}
