package host

import (
	"context"
	"regexp"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// ReadyRequest says how to tell that a worker is ready.
type ReadyRequest struct {
	// Pattern matches a line of its screen, or of its output where it has no
	// screen; nil: that of [DefaultReady].
	Pattern *regexp.Regexp
	// Timeout is how long to wait; 0: [DefaultReadyTimeout].
	Timeout time.Duration
}

// DefaultReadyTimeout is how long to wait for a worker to be ready when nobody
// says how long.
const DefaultReadyTimeout = 2 * time.Minute

// AwaitReady returns nil as soon as the worker shows that it is ready. It is an
// [ErrNotReady] if it does not within the time, and an [ErrEnded] if it ends
// before.
func (h *Host) AwaitReady(ctx context.Context, name string, r ReadyRequest) error {
	return swarm.ErrUnsupported
}
