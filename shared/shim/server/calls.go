package server

import "time"

// calls is held by the goroutine that makes calls of the kernel which may wait: for a disk, or on a
// busy machine. The scheduler starts a thread for each such call that others have to go on without,
// threads stay until the shim ends, and a machine has thousands of shims. So there are four: one
// waits in a call, one runs, one waits for events, and the runtime has one for itself.
type calls struct {
	held chan struct{}
	// stuck says that the last call of another goroutine took longer than callLimit.
	stuck bool
}

// callLimit is how long the goroutine of run waits for the call of another one.
const callLimit = 100 * time.Millisecond

func newCalls() *calls { return &calls{held: make(chan struct{}, 1)} }

// Lock is for all goroutines but that of run.
func (c *calls) Lock() { c.held <- struct{}{} }

// Unlock follows Lock.
func (c *calls) Unlock() { <-c.held }

// begin is Lock for the goroutine of run: a hanging disk must not delay a kill, so it does not wait
// for long. It reports whether the caller has to call Unlock.
func (c *calls) begin() bool {
	select {
	case c.held <- struct{}{}:
		c.stuck = false
		return true
	default:
	}
	if c.stuck {
		return false
	}
	timer := time.NewTimer(callLimit)
	defer timer.Stop()
	select {
	case c.held <- struct{}{}:
		return true
	case <-timer.C:
		c.stuck = true
		return false
	}
}
