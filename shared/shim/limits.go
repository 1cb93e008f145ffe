package shim

import (
	"context"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// SetLimits makes l the limits of a running worker, see [swarm.Limiter]. A worker that was
// started without a limit of a kind can't be given one: what its processes hold already
// would not count.
func SetLimits(ctx context.Context, dir, id string, l swarm.Limits) error {
	if err := l.Check(); err != nil {
		return err
	}
	_, err := request(ctx, dir, rundir.Request{Verb: rundir.VerbLimits, ID: id, Limits: l}, nil)
	return err
}

// SetPaused stops all processes of a running worker, or lets them go on, see
// [swarm.Pauser]. They are frozen by the worker's control group, if it has one, else each
// gets SIGSTOP.
func SetPaused(ctx context.Context, dir, id string, paused bool) error {
	_, err := request(ctx, dir, rundir.Request{Verb: rundir.VerbPause, ID: id, Paused: paused}, nil)
	return err
}
