package keeper

import (
	"time"

	"golang.org/x/sys/unix"
)

// closeLimit is how long who closes the outer terminal may take to do so.
const closeLimit = 2 * time.Second

// closing is a kill by someone who closes the outer terminal next, and keeps what
// it shows. Its first signal is sent when that has happened: many programs tidy up
// the screen at their end, or write to it why they end.
type closing struct {
	sig      unix.Signal
	mainOnly bool
	limit    time.Time
	// done says that the signal was sent.
	done bool
}

// closed sends the signal that was put off.
func (k *keeper) closed() {
	if k.closing.done || k.over {
		return
	}
	k.closing.done = true
	k.first(k.closing.sig, k.closing.mainOnly)
}

// closes waits until the outer terminal is closed by someone who said so, and who
// keeps what it shows until then. It reports whether that happened.
func (t *terminal) closes() bool {
	select {
	case <-t.hungup:
		t.gone = true
		return true
	case <-time.After(closeLimit):
		return false
	}
}
