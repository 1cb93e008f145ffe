package fake

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// programs are the scripts of package script that the engine can run; a spec names one. They
// write to the standard output alone. How they take signals and input is in [worker.signal] and
// [worker.read].
var programs = map[string]func(*worker){
	"sleep":     func(w *worker) { w.print("ready") },
	"stubborn":  func(w *worker) { w.print("ready") },
	"deaf":      func(w *worker) { w.print("ready") },
	"trap":      func(w *worker) { w.print("ready") },
	"interrupt": func(w *worker) { w.print("ready") },
	"echo":      func(w *worker) { w.print("ready") },
	"say":       func(w *worker) { w.print(w.variable(script.ValueVar)) },
	"true":      func(w *worker) { w.end(swarm.Exit{Cause: swarm.CauseExited}) },
	"fail": func(w *worker) {
		w.print("ready")
		w.end(swarm.Exit{Code: 3, Cause: swarm.CauseExited})
	},
	"crash": func(w *worker) { w.end(swarm.Exit{Code: -1, Signal: "SIGSEGV", Cause: swarm.CauseExited}) },
	"lines": func(w *worker) {
		w.count(1000)
		w.write("last", true)
		w.end(swarm.Exit{Code: 3, Cause: swarm.CauseExited})
	},
	"mixed": func(w *worker) {
		w.count(100)
		w.end(swarm.Exit{Cause: swarm.CauseExited})
	},
	"hold": func(w *worker) { w.print("ready") },
	"spend": func(w *worker) {
		w.print("ready")
		w.spend(200 * time.Millisecond)
		w.print("spent")
	},
	"touch": func(w *worker) { w.print(w.touch(w.variable(script.ValueVar))) },
	"reach": func(w *worker) { w.print(w.reach()) },
	"page": func(w *worker) {
		w.print("ready")
		w.count(100)
	},
}

func (w *worker) variable(name string) string { return environ.Get(w.spec.Environ(), name) }

func (w *worker) count(n int) {
	for i := range n {
		w.print(fmt.Sprintf("line %d", i+1))
	}
}

func (w *worker) print(line string) { w.write(line, false) }

func (w *worker) write(text string, partial bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(text, partial)
}

// put is write for a caller that holds mu.
func (w *worker) put(text string, partial bool) {
	w.output = append(w.output, swarm.Output{
		Time: time.Now(), Stream: swarm.Stdout, Data: []byte(text), Partial: partial,
	})
	if !partial {
		text += "\n"
	}
	w.transcribe(text)
	w.announce()
}

// signal delivers a signal; cause is that of an end by it.
func (w *worker) signal(name string, cause swarm.Cause) {
	byIt := swarm.Exit{Code: -1, Signal: name, Cause: cause}
	switch program := w.spec.Command[0]; {
	case name == "SIGKILL":
		w.end(byIt)
	case program == "deaf" && name == "SIGTERM":
		w.print("heard")
	case program == "stubborn", program == "deaf":
	case program == "trap" && name == "SIGUSR1":
		w.end(swarm.Exit{Code: 7, Cause: cause})
	case program == "interrupt" && name == "SIGINT":
		w.print("interrupted")
		w.end(swarm.Exit{Code: 5, Cause: cause})
	default:
		w.end(byIt)
	}
}
