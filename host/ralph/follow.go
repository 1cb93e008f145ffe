package ralph

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/swarmhost/swarm/shared/proc"
)

// Follow calls each for the last n lines of a loop's log, all for n < 0, and then
// for each new one until the loop has come to its end, gone is closed, or ctx has ended.
//
// slow, if not nil, is called if the kernel gives no notice of changes, with what to do about it.
//
// The caller closes gone when the loop's worker has ended: a loop that was killed before
// it could write that is running without end, as its state says. A nil gone is never closed.
func (s Store) Follow(ctx context.Context, name string, n int, gone <-chan struct{}, slow func(text string), each func(string) error) error {
	w, err := s.watch(name)
	if err != nil {
		return err
	}
	defer w.close()
	if w.slow != "" && slow != nil {
		slow(w.slow)
	}
	f := follower{store: s, name: name, each: each}
	defer f.close()
	if err := f.skip(n); err != nil {
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
		case <-w.due():
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
	store Store
	name  string
	each  func(string) error
	file  *os.File
	in    *bufio.Reader
	// part is the beginning of a line.
	part string
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// skip passes over all lines but the last n.
func (f *follower) skip(n int) error {
	if n < 0 {
		return nil
	}
	lines, err := f.store.Tail(f.name, -1)
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
		f.file, err = f.store.openLog(f.name)
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
			return fmt.Errorf("%s: %w", f.file.Name(), bufio.ErrTooLong)
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
	store Store
	name  string
	// watcher is nil if the kernel gives no notice of changes; slow then says why and what to do
	// about it, and tick when to look for them.
	watcher *fsnotify.Watcher
	slow    string
	tick    <-chan time.Time
}

// lookEvery is how often changes are looked for that the kernel gives no notice of.
const lookEvery = time.Second

func (s Store) watch(name string) (*watch, error) {
	w := &watch{store: s, name: name}
	var err error
	if w.watcher, err = fsnotify.NewWatcher(); err == nil {
		if err = w.watcher.Add(s.Dir(name)); err == nil {
			return w, nil
		}
		w.close()
	}
	if proc.IsNotifyLimit(err) {
		w.slow = proc.NotifyLimitText(err)
		// The folder need not exist.
		if _, err = os.Stat(s.Dir(name)); err == nil {
			w.watcher, w.tick = nil, time.Tick(lookEvery)
			return w, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoState(name)
	}
	return nil, w.wrap(err)
}

func (w *watch) changes() <-chan fsnotify.Event {
	if w == nil || w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

// due says when to look for changes that are not noticed.
func (w *watch) due() <-chan time.Time {
	if w == nil {
		return nil
	}
	return w.tick
}

func (w *watch) failures() <-chan error {
	if w == nil || w.watcher == nil {
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
func (w *watch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}
