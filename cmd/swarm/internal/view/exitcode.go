package view

import (
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host"
)

// waitUnknown is the exit code of wait for a worker whose exit code is unknown.
const waitUnknown = 125

// ExitCode returns the worker's exit code as a shell reports it.
func ExitCode(w host.Worker) int {
	if w.Status != host.StatusStopped || w.Exit == nil {
		return waitUnknown
	}
	if w.Exit.Signal != "" {
		if n := unix.SignalNum(w.Exit.Signal); n != 0 {
			return 128 + int(n)
		}
		return waitUnknown
	}
	if w.Exit.Code < 0 {
		return waitUnknown
	}
	return w.Exit.Code
}
