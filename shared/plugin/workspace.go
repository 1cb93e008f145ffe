package plugin

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Workspace is a workspace plugin in another process. It implements
// [swarm.Workspace] and every capability of one; see [Backend] for errors.
type Workspace struct{ client *Client }

var (
	_ swarm.Workspace       = (*Workspace)(nil)
	_ swarm.WorkspaceFinder = (*Workspace)(nil)
	_ swarm.Checker         = (*Workspace)(nil)
)

// Create implements [swarm.Workspace].
func (w *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	return swarm.WorkspaceRef{}, nil
}

// Inspect implements [swarm.Workspace].
func (w *Workspace) Inspect(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	return swarm.WorkspaceState{}, nil
}

// Remove implements [swarm.Workspace].
func (w *Workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	return swarm.RemoveResult{}, nil
}

// FindWorkspace implements [swarm.WorkspaceFinder].
func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	return swarm.WorkspaceRef{}, nil
}

// Check implements [swarm.Checker].
func (w *Workspace) Check(ctx context.Context) error { return w.client.Check(ctx) }
