package shim

import (
	"sync"
	"syscall"
	"time"
)

// awakeLimit is how long a running shim may take to answer before it counts as stopped.
const awakeLimit = 500 * time.Millisecond

// keepAwake continues a stopped shim, which would never answer, again and again until its
// context ends. Once is not enough: a shim may accept a request at the very moment at which
// it is stopped.
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
