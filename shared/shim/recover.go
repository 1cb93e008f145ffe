package shim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Recover returns the shim of a worker whose start was interrupted on this side: the
// process that called [Start] or [Prepare] is gone. The error [swarm.ErrNotFound] is final:
// no shim will start that worker any more. Recover waits for a start that is still in
// progress.
func Recover(ctx context.Context, dir, id string) (proc.Identity, error) {
	if shim, ok := Find(dir, id); ok {
		return shim, nil
	}
	notFound := fmt.Errorf("%w: worker %s", swarm.ErrNotFound, id)
	switch err := os.Remove(filepath.Join(dir, rundir.LaunchFile)); {
	case err == nil:
		// A shim that comes later finds nothing to start.
		return proc.Identity{}, notFound
	case !errors.Is(err, fs.ErrNotExist):
		return proc.Identity{}, err
	}
	// There was no launch file yet, or a shim took it. That shim holds the lock until it
	// has written its status or has ended.
	err := AwaitStart(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return proc.Identity{}, err
	}
	if shim, ok := Find(dir, id); ok {
		return shim, nil
	}
	return proc.Identity{}, notFound
}

// AwaitStart returns when no shim is starting a worker in the run directory: a shim holds
// the lock on it from before it takes the launch file until it has written its status.
func AwaitStart(ctx context.Context, dir string) error { return safefile.AwaitDir(ctx, dir) }
