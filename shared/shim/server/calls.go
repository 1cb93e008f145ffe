package server

import (
	"sync/atomic"
	"time"
)

// calls is held by the goroutine that makes calls of the kernel which may wait: for a disk, or on a
// busy machine. The scheduler starts a thread for each such call that others then lack,
// threads stay until the shim ends, and a machine has thousands of shims. So there are four: one
// waits in a call, one runs, one waits for events, and the runtime has one for itself.
type calls struct {
	held chan struct{}
	// made counts the calls of other goroutines that have returned.
	made atomic.Int64
	// stuckAfter is the count at which begin has waited in vain, -1 if it has not.
	stuckAfter int64
	// timer is used again, since a new one for each event would be garbage.
	timer *time.Timer
}

// callLimit is how long the goroutine of run waits for the call of another one. On a busy machine
// one that needs no disk may take a while, too.
const callLimit = 500 * time.Millisecond

func newCalls() *calls { return &calls{held: make(chan struct{}, 1), stuckAfter: -1} }

// Lock is for all goroutines but that of run.
func (c *calls) Lock() { c.held <- struct{}{} }

// Unlock follows Lock.
func (c *calls) Unlock() {
	c.made.Add(1)
	<-c.held
}

// begin is Lock for the goroutine of run: a hanging disk must not delay a kill, so it waits at most
// once for each call, and not for long. It reports whether the caller has to call end.
func (c *calls) begin() bool {
	select {
	case c.held <- struct{}{}:
		return true
	default:
	}
	made := c.made.Load()
	if made == c.stuckAfter {
		return false
	}
	if c.timer == nil {
		c.timer = time.NewTimer(callLimit)
	} else {
		c.timer.Reset(callLimit)
	}
	defer c.timer.Stop()
	select {
	case c.held <- struct{}{}:
		return true
	case <-c.timer.C:
		c.stuckAfter = made
		return false
	}
}

// end follows begin.
func (c *calls) end() { <-c.held }
