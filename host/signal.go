package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Signal sends a running worker a signal that is not meant to end it, and returns
// at once. If it ends the worker nevertheless, that is an exit of its own.
func (h *Host) Signal(ctx context.Context, name string, o swarm.SignalOptions) (Worker, error) {
	return Worker{}, swarm.ErrUnsupported
}
