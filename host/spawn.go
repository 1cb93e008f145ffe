package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// SpawnRequest says what worker to start.
type SpawnRequest struct {
	// Name is the worker's name, see [swarm.ValidName].
	Name string
	// Backend is the name of the plugin that is to own it.
	Backend string
	// Command is the program and its arguments.
	Command []string
	// Dir is the working directory, absolute. With a Workspace it is where the
	// workspace is made from, and the worker runs in the workspace.
	Dir string
	// Env are KEY=VALUE entries on top of the environment.
	Env []string
	// Tags are the user's labels.
	Tags []string
	// Options are settings that only the backend understands.
	Options map[string]string
	// Workspace asks for a directory made for this worker; nil: none.
	Workspace *WorkspaceRequest
	// Kill is its kill policy; nil: that of the host's [Options].
	Kill *swarm.KillOptions
	// Retain is its retention policy; empty: "until-clean".
	Retain string
	// OutputLimit is how many bytes of output to keep; 0: that of the host's
	// [Options].
	OutputLimit int64
}

// WorkspaceRequest says what workspace to make.
type WorkspaceRequest struct {
	// Plugin is the name of the workspace plugin, such as "worktree".
	Plugin string
	// Branch and Parent are as in [swarm.WorkspaceSpec]. A relative Parent is
	// relative to the parent of the base.
	Branch, Parent string
}

// Spawn starts a worker and returns it running. On any error nothing is left of
// what was made, and the error says the first cause. A taken name is
// [ErrExists]; a request that can't be carried out is [swarm.ErrInvalidSpec].
func (h *Host) Spawn(ctx context.Context, req SpawnRequest) (Worker, error) {
	return Worker{}, errTODO
}
