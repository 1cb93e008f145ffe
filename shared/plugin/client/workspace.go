package client

import (
	"context"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Workspace is a workspace plugin in another process. It implements
// [swarm.Workspace] and every capability of one; see [Backend] for errors.
type Workspace struct {
	client *Client
	rpc    pb.WorkspaceClient
}

var (
	_ swarm.Workspace        = (*Workspace)(nil)
	_ swarm.WorkspaceFinder  = (*Workspace)(nil)
	_ swarm.Rescuer          = (*Workspace)(nil)
	_ swarm.Differ           = (*Workspace)(nil)
	_ swarm.Checker          = (*Workspace)(nil)
	_ swarm.WorkspaceChecker = (*Workspace)(nil)
)

// Create implements [swarm.Workspace].
func (w *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	resp, err := w.rpc.Create(ctx, &pb.CreateRequest{Spec: wire.WorkspaceSpec(spec)})
	passOn(resp.GetWarnings(), func(text string) { swarm.Warn(ctx, text) })
	return wire.FromWorkspaceRef(resp.GetRef()), wire.FromStatus(ctx, err)
}

// CheckCreate implements [swarm.WorkspaceChecker].
func (w *Workspace) CheckCreate(ctx context.Context, c swarm.WorkspaceCheck) error {
	_, err := w.rpc.CheckCreate(ctx, wire.WorkspaceCheck(c))
	return wire.FromStatus(ctx, err)
}

// Inspect implements [swarm.Workspace].
func (w *Workspace) Inspect(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	resp, err := w.rpc.Inspect(ctx, &pb.InspectRequest{Ref: wire.WorkspaceRef(ref), Options: wire.RemoveOptions(o)})
	return wire.FromWorkspaceState(resp), wire.FromStatus(ctx, err)
}

// Remove implements [swarm.Workspace].
func (w *Workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	resp, err := w.rpc.Remove(ctx, &pb.RemoveRequest{Ref: wire.WorkspaceRef(ref), Options: wire.RemoveOptions(o)})
	passOn(resp.GetWarnings(), func(text string) { swarm.Warn(ctx, text) })
	return wire.FromRemoveResult(resp), wire.FromStatus(ctx, err)
}

// FindWorkspace implements [swarm.WorkspaceFinder].
func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	resp, err := w.rpc.FindWorkspace(ctx, &pb.FindWorkspaceRequest{Spec: wire.WorkspaceSpec(spec)})
	return wire.FromWorkspaceRef(resp.GetRef()), wire.FromStatus(ctx, err)
}

// Rescue implements [swarm.Rescuer].
func (w *Workspace) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	resp, err := w.rpc.Rescue(ctx, wire.RescueRequest(req))
	return wire.Convert(resp.GetWorks(), wire.FromSavedWork), wire.FromStatus(ctx, err)
}

// Diff implements [swarm.Differ].
func (w *Workspace) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	resp, err := w.rpc.Diff(ctx, wire.DiffRequest(ref, o))
	if err != nil {
		return swarm.Diff{}, wire.FromStatus(ctx, err)
	}
	return wire.FromDiff(resp), nil
}

// Check implements [swarm.Checker].
func (w *Workspace) Check(ctx context.Context) error { return w.client.Check(ctx) }
