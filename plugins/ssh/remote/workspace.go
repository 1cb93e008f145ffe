package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Worktrees makes workspaces of repositories on this machine.
type Worktrees interface {
	swarm.Workspace
	swarm.WorkspaceFinder
	swarm.Rescuer
	swarm.Differ
	swarm.WorkspaceChecker
}

// undoLimit bounds the removal of a worktree whose caller may be gone.
const undoLimit = 30 * time.Second

// workspaceID is the name of the locks and notes of a worker's worktree. It differs from the
// name that its start has.
func workspaceID(worker string) string { return worker + "-worktree" }

// lockWorkspace returns the start of the worker that a worktree is for, once no other call
// looks for that worktree or makes it.
func (b *Backend) lockWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (start Start, unlock func(), err error) {
	if b.Origin() == (Origin{}) {
		return start, nil, fmt.Errorf("%w: this machine has no /etc/machine-id, and %s can't hold an id: "+
			"a worktree here could not be distinguished from that of another machine", swarm.ErrUnavailable, b.opts.Dir)
	}
	if start, err = b.startOf(spec.Options); err != nil {
		return start, nil, err
	}
	unlock, err = b.store.lock(ctx, workspaceID(spec.ID))
	return start, unlock, err
}

// Create makes the worktree of a worker, unless that attempt was given up.
func (b *Backend) Create(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	start, unlock, err := b.lockWorkspace(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	last, err := b.store.lastGivenUp(workspaceID(spec.ID))
	if err != nil {
		return swarm.WorkspaceRef{}, fmt.Errorf("%w: whether the worktree of '%s' was given up: %w", swarm.ErrUnavailable, spec.Name, err)
	}
	if max(start.Attempt, 1) <= last {
		return swarm.WorkspaceRef{}, fmt.Errorf("%w: the worktree of '%s' was given up", swarm.ErrTooLate, spec.Name)
	}
	spec.Options = nil
	ref, err := b.opts.Worktrees.Create(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if err := within(ref); err != nil {
		undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		res, uerr := b.opts.Worktrees.Remove(undoing, ref, swarm.RemoveOptions{Undo: true})
		if uerr == nil && res.Kept != nil {
			uerr = fmt.Errorf("%s was kept: %s", ref.Path, res.Kept.Reason)
		}
		return swarm.WorkspaceRef{}, errors.Join(err, uerr)
	}
	return b.away(ref, start.Host)
}

// CheckCreate returns the error with which Create would fail, without an effect.
func (b *Backend) CheckCreate(ctx context.Context, c swarm.WorkspaceCheck) error {
	c.Spec.Options = nil
	if c.Removed != nil {
		ref, err := b.here(*c.Removed)
		if err != nil {
			return err
		}
		c.Removed = &ref
	}
	return b.opts.Worktrees.CheckCreate(ctx, c)
}

// within returns an error if the worker's directory leaves the worktree: what is checked out
// there may be a link to elsewhere.
func within(ref swarm.WorkspaceRef) error {
	top, err := filepath.EvalSymlinks(ref.Path)
	if err != nil {
		return err
	}
	dir := filepath.Join(ref.Path, ref.Dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("%w: no such directory: %s", swarm.ErrInvalidSpec, dir)
	}
	if real != top && !strings.HasPrefix(real, top+"/") {
		return fmt.Errorf("%w: %s escapes the workspace, to %s", swarm.ErrInvalidSpec, dir, real)
	}
	return nil
}

// refVersion counts the formats of what a reference holds for this plugin.
const refVersion = 1

// OriginOf returns where a worktree was made, as its reference says.
func OriginOf(ref swarm.WorkspaceRef) (o Origin, err error) {
	if ref.Handle.Version != refVersion {
		return o, fmt.Errorf("%w: the reference of worktree %s has version %d", swarm.ErrInvalidHandle, ref.Path, ref.Handle.Version)
	}
	if err := json.Unmarshal(ref.Handle.Data, &o); err != nil {
		return o, fmt.Errorf("%w: the reference of worktree %s: %w", swarm.ErrInvalidHandle, ref.Path, err)
	}
	if o == (Origin{}) {
		return o, fmt.Errorf("%w: the reference of worktree %s does not say where it was made", swarm.ErrInvalidHandle, ref.Path)
	}
	return o, nil
}

// away returns the reference of a worktree for other machines.
func (b *Backend) away(ref swarm.WorkspaceRef, host string) (swarm.WorkspaceRef, error) {
	data, err := json.Marshal(b.Origin())
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	ref.Host, ref.Handle = host, swarm.Handle{Version: refVersion, Data: data}
	return ref, nil
}

// here returns the reference for this machine, or an error if the worktree is not on it.
func (b *Backend) here(ref swarm.WorkspaceRef) (swarm.WorkspaceRef, error) {
	o, err := OriginOf(ref)
	if err != nil {
		return ref, err
	}
	err = b.isHere(o, ref.Host)
	ref.Host, ref.Handle = "", swarm.Handle{}
	return ref, err
}

// FindWorkspace returns the worktree of a worker. If it does not exist, an attempt to make it
// that arrives later is refused.
func (b *Backend) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	start, unlock, err := b.lockWorkspace(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	spec.Options = nil
	ref, err := b.opts.Worktrees.FindWorkspace(ctx, spec)
	if errors.Is(err, swarm.ErrNotFound) {
		if gerr := b.store.giveUp(workspaceID(spec.ID), start.before()); gerr != nil {
			err = fmt.Errorf("%w: the worktree of '%s' can't be given up: %w", swarm.ErrUnavailable, spec.Name, gerr)
		}
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return b.away(ref, start.Host)
}

func (b *Backend) Inspect(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	ref, err := b.here(ref)
	if err != nil {
		return swarm.WorkspaceState{}, err
	}
	return b.opts.Worktrees.Inspect(ctx, ref, o)
}

func (b *Backend) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	ref, err := b.here(ref)
	if err != nil {
		return swarm.RemoveResult{}, err
	}
	return b.opts.Worktrees.Remove(ctx, ref, o)
}

// Diff compares a worktree with its beginning. Its command runs here.
func (b *Backend) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	ref, err := b.here(ref)
	if err != nil {
		return swarm.Diff{}, err
	}
	return b.opts.Worktrees.Diff(ctx, ref, o)
}

// Shown is the argument of "swarm-remote diff": which changes are printed, and how.
type Shown struct {
	Ref    swarm.WorkspaceRef `json:"ref"`
	Colour swarm.Colour       `json:"colour,omitempty"`
}

func (b *Backend) Rescue(ctx context.Context, req swarm.RescueRequest) ([]swarm.SavedWork, error) {
	req.Host = ""
	return b.opts.Worktrees.Rescue(ctx, req)
}
