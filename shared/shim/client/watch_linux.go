package client

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// watch waits for changes in a directory and of the files in it.
type watch struct {
	// changed has a value after a change; it is closed once wake was called.
	changed chan struct{}
	woken   bool
	// on is nil for a watch that looks again and again, until done is closed.
	on   *notifier
	wd   int32
	done chan struct{}
}

// lookEvery is how often a watch looks that the kernel does not notify.
const lookEvery = 500 * time.Millisecond

// newLooks returns a watch that looks again and again.
func newLooks() *watch {
	w := &watch{changed: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-tick.C:
			}
			notifying.Lock()
			w.notify()
			notifying.Unlock()
		}
	}()
	return w
}

// notifier is the inotify instance that all watches of the process share: a user has a
// few of them, by default 128.
type notifier struct {
	events *os.File
	fd     int
	// watches are those on each directory, by its watch descriptor.
	watches map[int32][]*watch
}

// notifying guards the notifier, its watches and what they hold.
var notifying struct {
	sync.Mutex

	now *notifier // nil while nothing is watched
}

func newWatch(dir string) (*watch, error) {
	notifying.Lock()
	defer notifying.Unlock()
	n := notifying.now
	if n == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if proc.IsNotifyLimit(err) {
			return newLooks(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: inotify: %w", swarm.ErrUnavailable, err)
		}
		n = &notifier{events: os.NewFile(uintptr(fd), "inotify"), fd: fd, watches: map[int32][]*watch{}}
		notifying.now = n
		go n.run()
	}
	const changes = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE_SELF
	wd, err := unix.InotifyAddWatch(n.fd, dir, changes|unix.IN_ONLYDIR)
	if err != nil {
		n.release()
		if proc.IsNotifyLimit(err) {
			return newLooks(), nil
		}
		return nil, fmt.Errorf("%w: watch %s: %w", swarm.ErrUnavailable, dir, err)
	}
	w := &watch{changed: make(chan struct{}, 1), on: n, wd: int32(wd)}
	n.watches[w.wd] = append(n.watches[w.wd], w)
	return w, nil
}

// run reports changes to the watches until the notifier is released.
func (n *notifier) run() {
	var buf [64 << 10]byte
	for {
		size, err := n.events.Read(buf[:])
		if err != nil {
			return
		}
		notifying.Lock()
		for at := 0; at+unix.SizeofInotifyEvent <= size; {
			// struct inotify_event: wd, mask, cookie, len, and a name of len bytes.
			wd := int32(binary.NativeEndian.Uint32(buf[at:]))
			mask := binary.NativeEndian.Uint32(buf[at+4:])
			at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:]))
			if mask&unix.IN_Q_OVERFLOW != 0 {
				for wd := range n.watches {
					n.notify(wd)
				}
				continue
			}
			n.notify(wd)
		}
		notifying.Unlock()
	}
}

// notify reports a change in a directory to its watches.
func (n *notifier) notify(wd int32) {
	for _, w := range n.watches[wd] {
		w.notify()
	}
}

// notify has the watch look. The caller holds the mutex.
func (w *watch) notify() {
	if w.woken {
		return
	}
	select {
	case w.changed <- struct{}{}:
	default: // it has not looked since the last change
	}
}

// release closes the notifier if nothing is watched.
func (n *notifier) release() {
	if len(n.watches) == 0 && notifying.now == n {
		notifying.now = nil
		_ = n.events.Close()
	}
}

// wait returns after a change since it last returned, or once wake was called.
func (w *watch) wait() { <-w.changed }

// wake makes this wait and all later ones return.
func (w *watch) wake() {
	notifying.Lock()
	defer notifying.Unlock()
	if !w.woken {
		w.woken = true
		close(w.changed)
	}
}

func (w *watch) close() {
	notifying.Lock()
	defer notifying.Unlock()
	n := w.on
	if n == nil {
		close(w.done)
		return
	}
	others := slices.DeleteFunc(n.watches[w.wd], func(o *watch) bool { return o == w })
	if len(others) > 0 {
		n.watches[w.wd] = others
		return
	}
	delete(n.watches, w.wd)
	// The kernel has removed it if the directory is gone.
	_, _ = unix.InotifyRmWatch(n.fd, uint32(w.wd))
	n.release()
}
