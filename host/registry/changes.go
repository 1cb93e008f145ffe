package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/wake"
)

// settling is when to look again after a change was seen. Readers can see a change only a
// moment after the file system reports the write, and no event reports that moment.
var settling = []time.Duration{30 * time.Millisecond, time.Second}

// Changes reports that the database of a state directory was changed, by any process.
type Changes struct {
	// C gets a value when there may be something new, failed why it can't be reported
	// any more.
	C      chan struct{}
	Failed chan error
	// Slow says that the kernel gives no notice of changes, so that they are looked for now
	// and then, and what to do about it; empty: it does.
	Slow string

	dir     string
	watcher *fsnotify.Watcher
	done    chan struct{}
	closed  chan struct{}
	anew    atomic.Bool
}

// Watch watches a state directory, which need not exist yet.
func Watch(dir string) (*Changes, error) {
	c := &Changes{
		C: make(chan struct{}, 1), Failed: make(chan error, 1),
		dir: dir, done: make(chan struct{}), closed: make(chan struct{}),
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		c.watcher = w
		if err = c.add(); err != nil {
			err = errors.Join(err, w.Close())
		}
	}
	switch {
	case proc.IsNotifyLimit(err):
		c.watcher, c.Slow = nil, proc.NotifyLimitText(err)
		go c.look()
	case err != nil:
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	default:
		go c.run()
	}
	return c, nil
}

// lookEvery is how often changes are looked for that the kernel gives no notice of.
const lookEvery = time.Second

// look compares the files of the database with what they were, again and again.
func (c *Changes) look() {
	defer close(c.done)
	defer close(c.Failed)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := c.files()
	for {
		select {
		case <-c.closed:
			return
		case <-tick.C:
		}
		now := c.files()
		if now[0].inode != last[0].inode {
			c.anew.Store(true)
		}
		if now != last {
			last = now
			c.signal()
		}
	}
}

// file is what distinguishes one state of a file from another.
type file struct {
	inode          uint64
	size, modified int64
}

// files returns the states of the database and of its log. A change is written to one of
// them.
func (c *Changes) files() (states [2]file) {
	for i, name := range []string{File, File + "-wal"} {
		info, err := os.Lstat(filepath.Join(c.dir, name))
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			states[i] = file{inode: st.Ino, size: info.Size(), modified: info.ModTime().UnixNano()}
		}
	}
	return states
}

func (c *Changes) add() error {
	for at := c.dir; ; at = filepath.Dir(at) {
		err := c.watcher.Add(at)
		if err == nil && at != c.dir {
			// It may have been made in between.
			if err := c.watcher.Add(c.dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return err
		}
	}
}

func (c *Changes) run() {
	defer close(c.done)
	defer close(c.Failed)
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	step := 0
	stir := func() {
		step = 0
		timer.Reset(settling[0])
		c.signal()
	}
	for {
		select {
		case e, ok := <-c.watcher.Events:
			if !ok {
				return
			}
			switch {
			case filepath.Dir(e.Name) != c.dir:
				if err := c.add(); err != nil {
					c.Failed <- fmt.Errorf("watch %s: %w", c.dir, err)
					return
				}
				stir()
			case strings.HasPrefix(filepath.Base(e.Name), File):
				if filepath.Base(e.Name) == File && e.Has(fsnotify.Create|fsnotify.Rename|fsnotify.Remove) {
					c.anew.Store(true)
				}
				stir()
			}
		case _, ok := <-c.watcher.Errors:
			if !ok {
				return
			}
			stir() // something was missed
		case <-timer.C:
			c.signal()
			if step++; step < len(settling) {
				timer.Reset(settling[step])
			}
		}
	}
}

func (c *Changes) signal() { wake.Up(c.C) }

// Replaced reports whether the database is another one than at the last call.
func (c *Changes) Replaced() bool { return c.anew.Swap(false) }

func (c *Changes) Close() {
	if c.watcher != nil {
		_ = c.watcher.Close() // nothing is lost with it
	}
	close(c.closed)
	<-c.done
}
