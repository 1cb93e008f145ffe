package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/plugin"

	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (_ swarm.WorkspaceRef, err error) {
	r, err := w.source(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	unlock, err := r.Lock(ctx, w.lockLimit)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()

	var done repo.Undo
	defer func() { err = done.After(ctx, err) }()
	branch := repo.BranchOf(spec)
	path, made, err := w.makeDir(ctx, r, spec, &done)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	at, err := r.StartOf(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if at.Commit != "" {
		if err := r.MakeBranch(ctx, spec.ID, branch, at, &done); err != nil {
			return swarm.WorkspaceRef{}, err
		}
	}
	if err := r.CheckOut(ctx, spec.ID, path, branch, made, &done); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: path, Branch: branch, Base: r.Main, Dir: r.Dir}, nil
}

// source opens the repository of a new worktree.
func (w *Workspace) source(ctx context.Context, spec swarm.WorkspaceSpec) (*repo.Repo, error) {
	if spec.ID == "" || !swarm.ValidName(spec.Name) || !filepath.IsAbs(spec.Base) {
		return nil, repo.Invalid("a worktree needs an id, a name and an absolute base")
	}
	if err := plugin.DecodeOptions(spec.Options, &struct{}{}); err != nil {
		return nil, err
	}
	return repo.Open(ctx, w.git, spec.Base, false)
}

// makeDir creates the parent of the new worktree. It returns the path of the worktree and
// how many directories above it were created.
func (w *Workspace) makeDir(ctx context.Context, r *repo.Repo, spec swarm.WorkspaceSpec, done *repo.Undo) (string, int, error) {
	parent := r.ParentOf(spec)
	mode, err := r.ParentMode()
	if err != nil {
		return "", 0, err
	}
	made, err := done.MkdirAll(parent, mode)
	if err != nil {
		return "", 0, noParent(err)
	}
	if err := r.Trusted(parent); err != nil {
		return "", 0, untrusted(parent, err)
	}
	if parent, err = filepath.EvalSymlinks(parent); err != nil {
		return "", 0, err
	}
	path := filepath.Join(parent, spec.Name)
	if err := free(path); err != nil {
		return "", 0, err
	}
	if err := w.clearStale(ctx, r, path); err != nil {
		return "", 0, err
	}
	// Git would make it for all to read; it takes a directory that is empty.
	if _, err := done.MkdirAll(path, mode); err != nil {
		return "", 0, err
	}
	// The directory may have been made a moment ago for a neighbour that goes first.
	neighbours, err := repo.Admins(r.Common)
	for _, a := range neighbours {
		if filepath.Dir(a.Worktree) == parent {
			made = max(made, a.Above)
		}
	}
	return path, made, err
}

func noParent(err error) error { return repo.Invalid("cannot make a directory for worktrees: %w", err) }

func untrusted(parent string, err error) error {
	return repo.Invalid("cannot make worktrees in %s: %w; make it writable for you alone, or use --worktree-dir", parent, err)
}

func free(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 {
			return err
		}
	}
	return repo.Invalid("%s already exists", path)
}

// clearStale makes git forget a worktree of an earlier worker at path whose directory is
// gone: git refuses to reuse the path otherwise.
func (w *Workspace) clearStale(ctx context.Context, r *repo.Repo, path string) error {
	return eachStale(r, path, func(old swarm.WorkspaceRef) (*swarm.Kept, error) {
		res, err := w.removeLocked(ctx, r, old, swarm.RemoveOptions{})
		return res.Kept, err
	})
}

// eachStale calls clear for the worktrees of earlier workers that git lists at path, and refuses
// those that can't be cleared.
func eachStale(r *repo.Repo, path string, clear func(old swarm.WorkspaceRef) (*swarm.Kept, error)) error {
	all, err := repo.Admins(r.Common)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.Worktree != path {
			continue
		}
		if a.ID == "" {
			return repo.Invalid("git still lists a worktree at %s, which is gone; see 'git worktree prune'", path)
		}
		kept, err := clear(swarm.WorkspaceRef{ID: a.ID, Name: filepath.Base(path), Path: path, Base: r.Main})
		if err != nil {
			return err
		}
		if kept != nil {
			return repo.Invalid("an earlier worktree at %s is in the way: %s", path, kept.Reason)
		}
	}
	return nil
}
