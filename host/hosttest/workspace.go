package hosttest

import (
	"context"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Workspace makes plain directories in Dir.
type Workspace struct {
	Dir string
	// AfterCreate runs when the directory is there.
	AfterCreate func(context.Context) error
	// AfterRemove runs when the directory is gone.
	AfterRemove func() error
	// Kept is the reason why no workspace is removed; nil: there is none.
	Kept *swarm.Kept
	// Rescues are what each removal saves.
	Rescues []swarm.Rescue
	// OnRescue and OnDiff answer questions about saved work and about changes, for a plugin
	// that announces the capabilities.
	OnRescue func(swarm.RescueRequest) ([]swarm.SavedWork, error)
	OnDiff   func(swarm.WorkspaceRef, swarm.DiffOptions) (swarm.Diff, error)
	// Refuses is the answer to each of the Checks before one is made.
	Refuses error
	Checks  []swarm.WorkspaceCheck
}

func (f *Workspace) ref(spec swarm.WorkspaceSpec) swarm.WorkspaceRef {
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: filepath.Join(f.Dir, spec.Name), Branch: spec.Branch, Base: spec.Base}
}

func (f *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	ref := f.ref(spec)
	if err := os.Mkdir(ref.Path, 0o700); err != nil {
		return ref, err
	}
	if f.AfterCreate != nil {
		if err := f.AfterCreate(ctx); err != nil {
			return ref, err
		}
	}
	return ref, nil
}

func (f *Workspace) CheckCreate(_ context.Context, c swarm.WorkspaceCheck) error {
	f.Checks = append(f.Checks, c)
	return f.Refuses
}

func (f *Workspace) Inspect(_ context.Context, _ swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if f.Kept != nil && f.Kept.Forceable && o.Force {
		return swarm.WorkspaceState{}, nil
	}
	return swarm.WorkspaceState{Kept: f.Kept}, nil
}

func (f *Workspace) Remove(_ context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	if f.Kept != nil && (!o.Force || !f.Kept.Forceable) {
		return swarm.RemoveResult{Kept: f.Kept}, nil
	}
	err := os.RemoveAll(ref.Path)
	if err == nil && f.AfterRemove != nil {
		err = f.AfterRemove()
	}
	return swarm.RemoveResult{Rescues: f.Rescues}, err
}

func (f *Workspace) FindWorkspace(_ context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	ref := f.ref(spec)
	if _, err := os.Stat(ref.Path); err != nil {
		return ref, swarm.ErrNotFound
	}
	return ref, nil
}

func (f *Workspace) Rescue(_ context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	return f.OnRescue(req)
}

func (f *Workspace) Diff(_ context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	return f.OnDiff(ref, o)
}
