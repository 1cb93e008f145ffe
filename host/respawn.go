package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// RespawnRequest says how to start a worker again.
type RespawnRequest struct {
	// As is what to start in its place, of the same name; nil: the worker as it was
	// spawned.
	As *SpawnRequest
	// CleanFirst removes its workspace before, so that it begins in a new one. A
	// workspace that must be kept is an error, and the worker was not touched.
	CleanFirst bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool
	// Warn is told what the user should know; nil: nobody.
	Warn func(Warning)
	// Notice is told where saved work is; nil: nobody.
	Notice func(string)
	// Answer is called with the worker as it is when the caller runs in it: what
	// has to be said must be written by then, since Respawn may never return. It
	// is not called otherwise.
	Answer func(Worker)
}

// Respawn starts a worker again as it was spawned: the same command, environment,
// tags, directory, options and policies, in the same workspace, which is made
// again if it is gone. It is killed before if it runs. The name stays, the id is
// new. If anything fails the old record stays.
func (h *Host) Respawn(ctx context.Context, name string, r RespawnRequest) (Worker, error) {
	return Worker{}, swarm.ErrUnsupported
}
