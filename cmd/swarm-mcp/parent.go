package main

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/shared/proc"
)

// awaitParent returns once the process that started this one has ended: another process may
// hold the input of a killed client open. It also returns when the context ends.
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
