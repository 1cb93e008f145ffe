package server

import "time"

const (
	// closeLimit is how long a client may take to close the outer terminal: many terminals
	// are closed one after the other.
	closeLimit = 10 * time.Second
	// closeEvery is how often to check that the client is still connected: no event
	// reports that.
	closeEvery = 50 * time.Millisecond
)

// closure is a kill whose first signal is delayed until the terminal is closed.
type closure struct {
	*kill
	limit time.Time
	// done says that the signal was sent.
	done bool
}

// hopeless reports whether the client will not close the terminal any more.
func (c *closure) hopeless() bool {
	return c.client.HasLeft() || c.client.KeepsOpen() || time.Now().After(c.limit)
}

// closed sends the delayed signal.
func (k *shim) closed() {
	if k.closing.done || k.phase == over {
		return
	}
	k.closing.done = true
	k.first(k.closing.kill)
}

// awaitClosed waits, at the end, until the client has closed the outer terminal. It reports
// whether that happened.
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
