package client

import (
	"sync"
	"time"
)

// watch polls: kqueue reports changes in a directory, but not writes to the files in it.
type watch struct {
	ticker *time.Ticker
	woken  chan struct{}
	once   sync.Once
}

func newWatch(string) (*watch, error) {
	return &watch{ticker: time.NewTicker(200 * time.Millisecond), woken: make(chan struct{})}, nil
}

// wait returns when it is time to look again, or once wake was called.
func (w *watch) wait() {
	select {
	case <-w.ticker.C:
	case <-w.woken:
	}
}

// wake makes this wait and all later ones return.
func (w *watch) wake() { w.once.Do(func() { close(w.woken) }) }

func (w *watch) close() { w.ticker.Stop() }
