package shim

import (
	"sync"
	"syscall"
	"time"
)

// awakeLimit is how long a shim that runs may take to answer before it is thought
// to be stopped.
const awakeLimit = 500 * time.Millisecond

// keepAwake lets a shim go on that somebody has stopped, which would never answer,
// until it is told to stop. Once is not enough: a shim may take a request on in
// the very moment in which it is stopped.
func keepAwake(dir, id string) (stop func()) {
	done := make(chan struct{})
	var owned sync.WaitGroup
	owned.Go(func() {
		every := time.NewTicker(awakeLimit)
		defer every.Stop()
		for {
			select {
			case <-every.C:
			case <-done:
				return
			}
			st, err := readFacts(dir, id)
			if err != nil {
				continue
			}
			if there, err := isShim(dir, st); there && err == nil {
				_ = st.Shim.Signal(syscall.SIGCONT)
			}
		}
	})
	return func() {
		close(done)
		owned.Wait()
	}
}
