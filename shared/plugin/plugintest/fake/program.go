package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"touch":  func(w *worker) { w.print(w.touch(w.variable(script.ValueVar))) },
	"reach":  func(w *worker) { w.print(w.reach()) },
	"listen": func(w *worker) { w.listen() },
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

// signal delivers a signal; cause is the cause of an end by it.
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

// canEnclose refuses what no sandbox can be made of.
func canEnclose(box *swarm.Sandbox) error {
	if box == nil {
		return nil
	}
	if err := box.Check(); err != nil {
		return err
	}
	paths := box.Write
	if filepath.IsAbs(box.Home) {
		paths = append([]string{box.Home}, paths...)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %s does not exist", swarm.ErrInvalidSpec, path)
		}
	}
	return nil
}

// touch makes a file unless it exists, and returns what came of that. In a sandbox all files
// are values in memory, but for those that it can write.
func (w *worker) touch(path string) string {
	if box := w.spec.Sandbox; box != nil && !writes(box, path) {
		if filepath.Dir(path) == "/tmp" {
			return "written"
		}
		return "refused"
	}
	if _, err := os.Lstat(path); err == nil {
		return "seen"
	}
	if os.WriteFile(path, nil, 0o600) != nil {
		return "refused"
	}
	return "written"
}

func writes(box *swarm.Sandbox, path string) bool {
	return slices.ContainsFunc(box.Write, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
}

// reach returns whether the services of the machine can be reached.
func (w *worker) reach() string {
	if box := w.spec.Sandbox; box != nil && box.Network == swarm.NetworkNone {
		return "alone"
	}
	return "reached"
}
