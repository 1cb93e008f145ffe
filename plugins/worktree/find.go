package worktree

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// FindWorkspace implements [swarm.WorkspaceFinder].
func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	r, err := openRepo(ctx, w.git, spec.Base, false)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return swarm.WorkspaceRef{}, fmt.Errorf("worktree of '%s': %w: %w", spec.Name, swarm.ErrNotFound, err)
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	// A Create of the same worker may still be running in a plugin that lost its
	// host.
	unlock, err := r.lock(ctx, w.lockLimit)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	admins, err := r.admins()
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	for _, a := range admins {
		if spec.ID == "" || a.id != spec.ID {
			continue
		}
		ref := swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: a.worktree, Branch: branchOf(spec), Base: r.main, Dir: r.dir}
		if a.made {
			return ref, nil
		}
		// Create was killed before its end. No caller got this worktree, so it should hold
		// nothing of value; if it does, that is rescued as usual.
		if res, err := w.removeLocked(ctx, r, ref, swarm.RemoveOptions{Force: true, Undo: true}); err != nil || res.Kept != nil {
			return ref, err
		}
	}
	return swarm.WorkspaceRef{}, fmt.Errorf("worktree of '%s': %w", spec.Name, swarm.ErrNotFound)
}
