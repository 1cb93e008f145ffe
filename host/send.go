package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// SendOutcome says what came of an input to one worker.
type SendOutcome struct {
	Worker Worker
	// Pending says that the worker has it but had not read all of it yet.
	Pending bool
	// Err is nil if the worker has it; else it has nothing of it. Its text names
	// the worker.
	Err error
}

// Send gives an input to the selected workers, all at the same time. An unknown
// name is an [ErrNotFound], and nobody was sent anything then. With All or Tag it
// passes over workers that do not run and those that can't take input. Whatever
// happens to one worker afterwards is in its outcome; outcomes are in the order of
// the selection.
func (h *Host) Send(ctx context.Context, sel Selection, in swarm.Input) ([]SendOutcome, error) {
	return nil, swarm.ErrUnsupported
}
