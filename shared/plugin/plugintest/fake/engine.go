// Package fake is a backend whose workers are values in memory: for tests of
// hosts, and for the tests of the conformance kit itself.
//
// It is imported by tests only.
package fake

import (
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Engine is where the workers live. It stays while backends come and go, as the
// engine of a real backend does. Its methods may be called at the same time.
type Engine struct {
	mu      sync.Mutex
	workers map[string]*worker
	pids    int
}

// NewEngine returns an engine without workers.
func NewEngine() *Engine { return &Engine{workers: map[string]*worker{}} }

// Backend returns a backend on the engine.
func (e *Engine) Backend() *Backend { return &Backend{engine: e} }

// worker is one worker. Its fields are guarded by mu, but for those that are set
// before it is known to anyone.
type worker struct {
	spec    swarm.Spec
	pid     int
	started time.Time
	done    chan struct{} // closed when it has ended

	mu      sync.Mutex
	exit    *swarm.Exit // nil while it runs
	output  []swarm.Output
	changed chan struct{} // closed and replaced when output or exit changed
}

// programs are what the engine can run; a spec names one.
//
//	sleep            says "ready" and runs until it is ended
//	stubborn         as sleep, and ignores all but SIGKILL
//	deaf             as stubborn, and says "heard" at SIGTERM
//	trap             as sleep, and ends with code 7 at SIGUSR1
//	say              says the value of PLUGINTEST_VALUE and runs
//	true             ends with code 0
//	crash            ends by SIGSEGV
//	lines            writes "line 1" to "line 1000" and "last", ends with code 3
var programs = map[string]func(*worker){
	"sleep":    func(w *worker) { w.print("ready") },
	"stubborn": func(w *worker) { w.print("ready") },
	"deaf":     func(w *worker) { w.print("ready") },
	"trap":     func(w *worker) { w.print("ready") },
	"say":      func(w *worker) { w.print(w.variable("PLUGINTEST_VALUE")) },
	"true":     func(w *worker) { w.end(swarm.Exit{Cause: swarm.CauseExited}) },
	"crash":    func(w *worker) { w.end(swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseExited}) },
	"lines":    lines,
}

func (w *worker) variable(name string) string {
	for _, kv := range w.spec.Environ() {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// print adds a line to the output.
func (w *worker) print(line string) { w.write(line, false) }

func (w *worker) write(text string, partial bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.output = append(w.output, swarm.Output{
		Time: time.Now(), Stream: swarm.Stdout, Data: []byte(text), Partial: partial,
	})
	w.announce()
}

// announce wakes those who follow. The caller holds mu.
func (w *worker) announce() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// end ends the worker, unless it has ended. It reports whether it did.
func (w *worker) end(e swarm.Exit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exit != nil {
		return false
	}
	e.Time = time.Now()
	w.exit = &e
	close(w.done)
	w.announce()
	return true
}

func (w *worker) status() swarm.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := swarm.Status{
		State: swarm.StateRunning, PID: w.pid, Started: w.started,
		Where: swarm.Where{Kind: "fake", Name: w.spec.Name},
	}
	if w.exit != nil {
		st.State, st.PID, st.Exit = swarm.StateExited, 0, new(*w.exit)
	}
	return st
}

// signal delivers a signal.
func (w *worker) signal(name string) {
	killed := swarm.Exit{Code: -1, Signal: name, Cause: swarm.CauseKilled}
	switch program := w.spec.Command[0]; {
	case name == "SIGKILL":
		w.end(killed)
	case program == "deaf" && name == "SIGTERM":
		w.print("heard")
	case program == "stubborn", program == "deaf":
	case program == "trap" && name == "SIGUSR1":
		w.end(swarm.Exit{Code: 7, Cause: swarm.CauseKilled})
	default:
		w.end(killed)
	}
}
