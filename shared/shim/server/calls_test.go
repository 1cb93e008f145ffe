package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestCallsDoNotDelayRun checks that the goroutine of run waits for a call of another one, but only
// once and not for long if that does not return.
func TestCallsDoNotDelayRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCalls()
		waits := func(locked bool, most time.Duration) {
			t.Helper()
			began := time.Now()
			if got := c.begin(); got != locked || time.Since(began) > most {
				t.Errorf("begin() = %v after %v", got, time.Since(began))
			}
			if locked {
				c.end()
			}
		}
		waits(true, 0)
		c.Lock()
		go func() {
			time.Sleep(callLimit / 2)
			c.Unlock()
		}()
		waits(true, callLimit/2)
		c.Lock()
		waits(false, callLimit)
		waits(false, 0)
		c.Unlock()
		c.Lock()
		waits(false, callLimit)
		c.Unlock()
		waits(true, 0)
	})
}
