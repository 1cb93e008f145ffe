package history

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Confirmed returns nil if a backend without an error for a kill also confirms that no
// process of the worker is left. An end is never inferred from silence.
func Confirmed(backend string, res swarm.KillResult) error {
	s := res.Status
	switch {
	case len(Survivors(res)) > 0:
		return swarm.ErrSurvivors
	case Over(s):
		return nil
	case s.State == swarm.StateRunning:
		return fmt.Errorf("backend '%s' says that the worker is still running", backend)
	case s.Reason != "":
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended: %s", backend, OneLine(s.Reason))
	default:
		return fmt.Errorf("backend '%s' did not confirm that the worker has ended", backend)
	}
}

// Survivors returns the processes that a kill did not end.
func Survivors(res swarm.KillResult) []swarm.Process {
	if len(res.Survivors) > 0 {
		return res.Survivors
	}
	return res.Status.Survivors
}
