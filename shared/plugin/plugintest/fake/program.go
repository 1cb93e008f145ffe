package fake

import (
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

// programs are what the engine can run; a spec names one.
//
//	sleep            says "ready" and runs until it is ended
//	stubborn         as sleep, and ignores all but SIGKILL
//	deaf             as stubborn, and says "heard" at SIGTERM
//	trap             as sleep, and ends with code 7 at SIGUSR1
//	interrupt        as sleep, and at an interrupt says "interrupted" and ends with code 5
//	say              says the value of the variable script.ValueVar and runs
//	echo             as sleep, and says "got x" for each line x of its input, "eof" at its end
//	true             ends with code 0
//	fail             says "ready" and ends with code 3
//	crash            ends by SIGSEGV
//	lines            writes "line 1" to "line 1000" and "last", ends with code 3
//	mixed            writes "line 1" to "line 100", ends with code 0
//	spend            as sleep, uses 200 ms of CPU time, says "spent"
//	hold             as sleep, and holds 64 MiB
//	touch            makes the file that script.ValueVar names and says what came of that, and runs
//	reach            says whether the services of the machine can be reached, and runs
//	page             as sleep, then writes "line 1" to "line 100"
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

func (w *worker) variable(name string) string {
	for _, kv := range w.spec.Environ() {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

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
