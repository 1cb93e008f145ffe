// Package fake is a backend whose workers are values in memory: for tests of
// hosts, and for the tests of the conformance kit itself.
//
// It is imported by tests only.
package fake

import (
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Engine holds the workers. Like the engine of a real backend, it outlives its backends.
// Its methods may be called concurrently.
type Engine struct {
	mu      sync.Mutex
	workers map[string]*worker
	pids    int
}

// NewEngine returns an engine without workers.
func NewEngine() *Engine { return &Engine{workers: map[string]*worker{}} }

// Backend returns a backend on the engine.
func (e *Engine) Backend() *Backend { return &Backend{engine: e} }

// worker is one worker. Its fields are guarded by mu, except those that are set before the
// worker is visible.
type worker struct {
	engine *Engine
	spec   swarm.Spec
	run    func(*worker) // its program
	done   chan struct{} // closed when it has ended

	created time.Time

	mu         sync.Mutex
	pid        int // 0 between two starts
	started    time.Time
	last       swarm.Exit // of the main process before, between two starts
	restarts   []swarm.Restarted
	spent      time.Duration // CPU time
	kills      int           // how many are under way
	completion *swarm.Completion
	owned      bool        // the owner has ended
	exit       *swarm.Exit // nil while it runs
	typed      string      // input that is no line yet
	closed     bool        // its input has ended
	paused     bool
	columns    int // of its terminal; 0: as it was made
	rows       int
	output     []swarm.Output
	transcript []byte
	alive      string        // a file that exists while it runs, if a command of Exec needs it
	home       string        // its directory if the spec has none, made for the first copy
	changed    chan struct{} // closed and replaced when any of this changed
}

// announce wakes the followers. The caller holds mu.
func (w *worker) announce() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *worker) status() swarm.Status {
	st, _ := w.look()
	return st
}

// look returns the status and a channel that is closed when the status may have changed.
func (w *worker) look() (swarm.Status, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := swarm.Status{
		State: swarm.StateRunning, PID: w.pid, Started: w.started,
		Where:        swarm.Where{Kind: "fake", Name: w.spec.Name},
		Restarts:     len(w.restarts),
		Paused:       w.paused && w.exit == nil,
		LastRestarts: slices.Clone(w.restarts[max(0, len(w.restarts)-swarm.MaxRestarts):]),
	}
	if w.completion != nil {
		st.Completion = new(*w.completion)
	}
	switch {
	case w.exit != nil:
		st.State, st.PID, st.Exit = swarm.StateExited, 0, new(*w.exit)
	case w.pid == 0:
		st.Reason = "restarting"
	}
	return st, w.changed
}
