package main

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/shared/proc"
)

// awaitParent returns once the process that started this one has ended: the input
// of a client that was killed may be held open by somebody else. It returns at the
// end of the context too.
func awaitParent(ctx context.Context) {
	pid := os.Getppid()
	parent, err := proc.Identify(pid)
	switch {
	case err != nil && os.Getppid() == pid:
		// It can't be watched; the end of the input is left.
		<-ctx.Done()
	case err != nil || os.Getppid() != pid:
		// It ended in between.
	default:
		if proc.AwaitEnd(ctx, parent) != nil {
			<-ctx.Done()
		}
	}
}
