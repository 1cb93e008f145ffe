package ralph

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/fsnotify/fsnotify"

	"github.com/swarmhost/swarm/shared/safefile"
)

// Follow calls each for the last n lines of a loop's log, all for n < 0, and then
// for each new one until the loop has come to its end, gone is closed, or ctx is over.
//
// The caller closes gone when the loop's worker has ended: a loop that was killed before
// it could write that is running for ever, as its state says. A nil gone is never closed.
func (s Store) Follow(ctx context.Context, name string, n int, gone <-chan struct{}, each func(string) error) error {
	w, err := s.watch(name)
	if err != nil {
		return err
	}
	defer w.close()
	f := follower{path: s.LogPath(name), each: each}
	defer f.close()
	if err := f.skip(s, name, n); err != nil {
		return err
	}
	over := false
	for {
		// The state is read first, so that all lines before its change are read.
		st, stateErr := s.Load(name)
		if err := f.read(); err != nil {
			return err
		}
		if over || errors.Is(stateErr, ErrNoState) || stateErr == nil && st.over() {
			return nil
		}
		select {
		case <-w.changes():
		case err := <-w.failures():
			if err := w.failed(err); err != nil {
				return err
			}
		case <-gone:
			over = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type follower struct {
	path string
	each func(string) error
	file *os.File
	in   *bufio.Reader
	// part is the beginning of a line.
	part string
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// skip passes over all lines but the last n.
func (f *follower) skip(s Store, name string, n int) error {
	if n < 0 {
		return nil
	}
	lines, err := s.Tail(name, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.open(); err != nil {
		return err
	}
	for range max(0, len(lines)-n) {
		if _, err := f.in.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) open() (err error) {
	if f.file == nil {
		f.file, err = safefile.Open(f.path, 0)
		f.in = bufio.NewReader(f.file)
	}
	return err
}

func (f *follower) read() error {
	err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		f.file = nil
		return nil
	}
	for err == nil {
		var piece []byte
		piece, err = f.in.ReadSlice('\n')
		f.part += string(piece)
		if len(f.part) > bufio.MaxScanTokenSize {
			return fmt.Errorf("%s: %w", f.path, bufio.ErrTooLong)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
			continue
		}
		if err == nil {
			err = f.each(f.part[:len(f.part)-1])
			f.part = ""
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// watch reports changes of a loop's files. It watches the folder, since the state file is
// replaced as a whole. A nil watch reports nothing.
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
	err = w.watcher.Add(s.Dir(name))
	switch {
	case err == nil:
		return w, nil
	case errors.Is(err, fs.ErrNotExist):
		err = NoState(name)
	default:
		err = w.wrap(err)
	}
	w.close()
	return nil, err
}

func (w *watch) changes() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.watcher.Events
}

func (w *watch) failures() <-chan error {
	if w == nil {
		return nil
	}
	return w.watcher.Errors
}

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
