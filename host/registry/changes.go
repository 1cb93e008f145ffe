package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settling is when to look again after a change was seen. Readers can see a change only a
// moment after the file system reports the write, and no event reports that moment.
var settling = []time.Duration{30 * time.Millisecond, time.Second}

// Changes tells that the database of a state directory was changed, by whomever.
type Changes struct {
	// C gets a value when there may be something new, failed why it can't be told
	// any more.
	C      chan struct{}
	Failed chan error

	dir     string
	watcher *fsnotify.Watcher
	done    chan struct{}
	anew    atomic.Bool
}

// Watch watches a state directory, which need not exist yet.
func Watch(dir string) (*Changes, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	c := &Changes{
		C: make(chan struct{}, 1), Failed: make(chan error, 1),
		dir: dir, watcher: w, done: make(chan struct{}),
	}
	if err := c.add(); err != nil {
		return nil, errors.Join(fmt.Errorf("watch %s: %w", dir, err), w.Close())
	}
	go c.run()
	return c, nil
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
		c.tell()
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
			c.tell()
			if step++; step < len(settling) {
				timer.Reset(settling[step])
			}
		}
	}
}

func (c *Changes) tell() {
	select {
	case c.C <- struct{}{}:
	default:
	}
}

// Replaced reports whether the database is another one than at the last call.
func (c *Changes) Replaced() bool { return c.anew.Swap(false) }

func (c *Changes) Close() {
	_ = c.watcher.Close() // nothing is lost with it
	<-c.done
}
