package ralph

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/fsnotify/fsnotify"
)

// watch reports changes of a loop's files. It watches the folder, since the state file is
// replaced as a whole.
type watch struct {
	store   Store
	name    string
	watcher *fsnotify.Watcher
}

func (s Store) watch(name string) (*watch, error) {
	w := &watch{store: s, name: name}
	var err error
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, w.wrap(err)
	}
	if err := w.watcher.Add(s.Dir(name)); err != nil {
		w.close()
		if errors.Is(err, fs.ErrNotExist) {
			err = &NoStateError{Name: name}
		} else {
			err = w.wrap(err)
		}
		return nil, err
	}
	return w, nil
}

func (w *watch) changes() <-chan fsnotify.Event { return w.watcher.Events }

func (w *watch) failures() <-chan error { return w.watcher.Errors }

// failed returns the error to end with, if it is one. After too many changes at once some
// are not reported, but the next read sees them, and a read of a removed folder fails.
func (w *watch) failed(err error) error {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		return nil
	}
	if _, stateErr := w.store.Load(w.name); errors.Is(stateErr, ErrNoState) {
		return nil
	}
	return w.wrap(err)
}

func (w *watch) wrap(err error) error {
	return fmt.Errorf("watch the ralph state of '%s': %w", w.name, err)
}

// close never fails: it only closes descriptors.
func (w *watch) close() { _ = w.watcher.Close() }
