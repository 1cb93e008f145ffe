package mcp

import (
	"errors"
	"sync"
)

// errLeaving answers a call that comes when the server has begun to leave.
var errLeaving = errors.New("the server is leaving")

// group is a WaitGroup to which others add while it is waited for: a client may send a
// request at any moment. Once the wait has begun nothing is added.
type group struct {
	mu     sync.Mutex
	closed bool
	held   sync.WaitGroup
}

// add holds the group n times, and reports false if the wait has begun.
func (g *group) add(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.held.Add(n)
	}
	return !g.closed
}

// done takes one hold back.
func (g *group) done() { g.held.Done() }

// run calls f in a goroutine that holds the group, unless the wait has begun.
func (g *group) run(f func()) {
	if g.add(1) {
		go func() {
			defer g.done()
			f()
		}()
	}
}

// wait lets nothing in any more, and returns when nothing holds the group.
func (g *group) wait() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.held.Wait()
}
