package launch

import (
	"context"
	"os"
	"time"
)

// askTime is how long a plugin may take to leave when it is asked to.
const askTime = 200 * time.Millisecond

// close ends the plugin and everything of it in this process. It can be called
// more than once; every call returns when all is done.
func (p *running) close() { p.closing.Do(p.end) }

func (p *running) end() {
	if p.proc.running() && p.givenUp.Load() {
		p.ask()
	}
	_ = p.proc.Kill(context.Background())
	<-p.proc.exited
	// With the process gone this only cleans up: connection and goroutines.
	p.client.Kill()
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
	if p.lock != nil {
		_ = p.lock.Close()
	}
}

// ask gives the plugin a moment to finish what it is doing and to leave by
// itself. It is asked through the death pipe, which no call can block. A plugin
// that is stopped or hangs does not answer.
func (p *running) ask() {
	p.proc.leave()
	limit := time.NewTimer(askTime)
	defer limit.Stop()
	select {
	case <-p.proc.exited:
	case <-limit.C:
	}
}
