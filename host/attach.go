package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Attach returns the program that connects a person's terminal with a running
// worker. It is run in the place of the caller, who closes the host before.
func (h *Host) Attach(ctx context.Context, name string) (swarm.Attachment, error) {
	return swarm.Attachment{}, swarm.ErrUnsupported
}
