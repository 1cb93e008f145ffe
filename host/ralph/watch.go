package ralph

import (
	"errors"
	"fmt"

	"github.com/fsnotify/fsnotify"
)

// watch tells of changes of a loop's files. The state is replaced whole, so it is the
// folder that is watched.
type watch struct {
	name    string
	watcher *fsnotify.Watcher
}

func (s Store) watch(name string) (*watch, error) {
	w := &watch{name: name}
	var err error
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, w.failed(err)
	}
	if err := w.watcher.Add(s.Dir(name)); err != nil {
		w.close()
		return nil, w.failed(err)
	}
	return w, nil
}

func (w *watch) changes() <-chan fsnotify.Event { return w.watcher.Events }

func (w *watch) failures() <-chan error { return w.watcher.Errors }

// failed returns the error to end with, if it is one: after too many changes at once
// some were not told, but the next look sees them.
func (w *watch) failed(err error) error {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		return nil
	}
	return fmt.Errorf("watch the ralph state of '%s': %w", w.name, err)
}

// close never fails: it only closes descriptors.
func (w *watch) close() { _ = w.watcher.Close() }
