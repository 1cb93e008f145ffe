package server

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// closeLimit is how long who closes the outer terminal may take to do so: a
	// crowd is closed one after the other.
	closeLimit = 10 * time.Second
	// closeEvery is how often to look whether that one is still there, which no
	// event tells of.
	closeEvery = 50 * time.Millisecond
)

// closing is a kill by someone who closes the outer terminal next, and keeps what
// it shows. Its first signal is sent when that has happened: many programs tidy up
// the screen at their end, or write to it why they end.
type closing struct {
	*kill
	sig      unix.Signal
	mainOnly bool
	limit    time.Time
	// done says that the signal was sent.
	done bool
}

// beginClosing begins a kill whose first signal is put off. Its deadline is not: a
// grace includes the time that the terminal takes to close.
func (k *shim) beginClosing(c *closing) {
	c.limit = time.Now().Add(closeLimit)
	k.kills = append(k.kills, c.kill)
	k.closing = c
}

// hopeless says that who asked will not close the terminal.
func (c *closing) hopeless() bool {
	return c.client.left.Load() || c.client.goesOn.Load() || time.Now().After(c.limit)
}

// closed sends the signal that was put off.
func (k *shim) closed() {
	if k.closing.done || k.over {
		return
	}
	k.closing.done = true
	k.first(k.closing.sig, k.closing.mainOnly)
}

// awaitClosed waits, at the end, until the outer terminal is closed by who said
// so. It reports whether that happened.
func (k *shim) awaitClosed() bool {
	tick := time.NewTicker(closeEvery)
	defer tick.Stop()
	for !k.closing.hopeless() {
		select {
		case <-k.term.hungup:
			k.term.gone = true
			return true
		case <-tick.C:
		}
	}
	return false
}
