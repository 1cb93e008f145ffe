package host

import "context"

// CompleteRequest says how a worker is done.
type CompleteRequest struct {
	// Summary is one line, or empty.
	Summary string
}

// Complete records that the worker which the caller runs in is done, and returns
// it. Outside of workers it is [ErrOutside]; a worker that is being ended already
// is [swarm.ErrTooLate].
func (h *Host) Complete(ctx context.Context, req CompleteRequest) (Worker, error) {
	return Worker{}, errLater
}
