package worker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Perhaps describes the processes that are perhaps those of the lost worker, see
// [history.PerhapsAlive].
func (w Worker) Perhaps() string { return history.PerhapsAlive(w.PID, w.PerhapsAlive) }

// MayRun returns an [ErrRunning] for a lost worker that perhaps still runs. what is what was
// refused, such as "cannot clean worker".
func MayRun(w Worker, what string) error {
	return &hintedError{
		Errorf(ErrRunning, "%s '%s': its shim died, %s", what, w.Name, w.Perhaps()),
		fmt.Sprintf("'swarm kill %[1]s' ends what is proven to be the worker's, %[2]s; 'swarm clean %[1]s --forget' removes the record and leaves the rest",
			w.Name, endByHand(w.PerhapsAlive)),
	}
}

// NotProven returns the hint for a kill that left processes alive which are perhaps those of
// the worker: they were not signalled.
func NotProven(name string, ps []swarm.Process) string {
	return fmt.Sprintf("not proven to be the worker's, so not signalled: %s; %s, 'swarm clean %s --forget' removes the record",
		pids(ps), endByHand(ps), name)
}

// endByHand says how to end processes that swarm does not signal.
func endByHand(ps []swarm.Process) string {
	var numbers []string
	for _, p := range ps {
		if p.PID != 0 {
			numbers = append(numbers, strconv.Itoa(p.PID))
		}
	}
	if len(numbers) == 0 {
		return "end the others where they run"
	}
	return "'kill " + strings.Join(numbers, " ") + "' ends these if they are the worker's"
}

func pids(ps []swarm.Process) string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		if parts[i] = p.Name; p.PID != 0 {
			parts[i] = strings.TrimSuffix("pid "+strconv.Itoa(p.PID)+" ("+p.Name+")", " ()")
		}
	}
	return strings.Join(parts, ", ")
}
