package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Peek is what a worker showed last.
type Peek struct {
	Worker Worker
	// Lines are plain text.
	Lines []string
	// Screen says that they are from its screen, else they are the last lines of
	// its output.
	Screen bool
	// Taken says that the worker has ended and that its screen is the last one.
	Taken bool
}

// Peek returns the last lines of a worker's screen, or of its output where it has
// no screen, as plain text, whether it runs or has ended. lines is how many; 0: the
// visible screen, or [PeekLines] lines of output.
func (h *Host) Peek(ctx context.Context, name string, lines int) (Peek, error) {
	return Peek{}, swarm.ErrUnsupported
}

// PeekLines is how many lines of output Peek returns when nobody says how many.
const PeekLines = 30
