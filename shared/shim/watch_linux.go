package shim

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// watch waits for changes in a directory and of the files in it.
type watch struct {
	events *os.File
}

func newWatch(dir string) (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("%w: inotify: %w", swarm.ErrUnavailable, err)
	}
	w := &watch{events: os.NewFile(uintptr(fd), "inotify")}
	const changes = unix.IN_MODIFY | unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE_SELF
	if _, err := unix.InotifyAddWatch(fd, dir, changes|unix.IN_ONLYDIR); err != nil {
		w.close()
		return nil, fmt.Errorf("%w: watch %s: %w", swarm.ErrUnavailable, dir, err)
	}
	return w, nil
}

// wait returns after a change since it last returned, or once wake was called.
func (w *watch) wait() {
	var buf [4096]byte
	// The caller looks for the changes itself; wake reports an error.
	_, _ = w.events.Read(buf[:])
}

// wake makes this wait and all later ones return.
func (w *watch) wake() { _ = w.events.SetReadDeadline(time.Unix(0, 1)) }

func (w *watch) close() { _ = w.events.Close() }
