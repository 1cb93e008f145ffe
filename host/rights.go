package host

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/worker"
)

// OnlyPerson refuses all callers but a person outside of every worker: what says how the screens of
// agents are read must not come from one of them.
func (h *Host) OnlyPerson(ctx context.Context) error {
	who, err := h.Callers().Caller(ctx)
	if err != nil {
		return err
	}
	ids, err := h.dir.RunDirs()
	if err != nil {
		return err
	}
	// In a PID namespace of its own, it may be a part of any of those that it can't see.
	if who.Person && len(h.callers.Within()) == 0 && !slices.ContainsFunc(ids, h.dir.Hidden) {
		return nil
	}
	return worker.Hinted("only a person may do this, and not from inside a worker", "run it in a terminal outside of the workers of swarm")
}
