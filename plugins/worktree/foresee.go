package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CheckCreate implements [swarm.WorkspaceChecker]. It does not wait for the lock of the repository:
// whatever another call makes meanwhile belongs to another worker.
func (w *Workspace) CheckCreate(ctx context.Context, c swarm.WorkspaceCheck) error {
	r, err := w.source(ctx, c.Spec)
	if err != nil {
		return err
	}
	path, err := w.checkPlace(ctx, r, c)
	if err != nil {
		return err
	}
	going := []string{path} // a worktree that git lists there is gone
	if c.Removed != nil {
		going = append(going, c.Removed.Path)
	}
	at, err := r.StartOf(ctx, c.Spec, going...)
	if err != nil || at.Commit == "" {
		return err
	}
	return r.CheckNewBranch(ctx, repo.BranchOf(c.Spec))
}

// checkPlace returns the path of a new worktree, or the error with which makeDir would fail.
func (w *Workspace) checkPlace(ctx context.Context, r *repo.Repo, c swarm.WorkspaceCheck) (string, error) {
	parent := r.ParentOf(c.Spec)
	top, err := existingDir(parent)
	if err != nil {
		return "", noParent(err)
	}
	if err := r.Trusted(top); err != nil {
		return "", untrusted(parent, err)
	}
	const writeAndSearch = unix.W_OK | unix.X_OK
	if err := unix.Access(top, writeAndSearch); err != nil {
		return "", noParent(&os.PathError{Op: "mkdir", Path: filepath.Join(parent, c.Spec.Name), Err: err})
	}
	if top != parent {
		return filepath.Join(parent, c.Spec.Name), nil
	}
	if parent, err = filepath.EvalSymlinks(parent); err != nil {
		return "", err
	}
	path := filepath.Join(parent, c.Spec.Name)
	if c.Removed != nil && c.Removed.Path == path {
		return path, nil
	}
	if err := free(path); err != nil {
		return "", err
	}
	return path, eachStale(r, path, func(old swarm.WorkspaceRef) (*swarm.Kept, error) {
		state, err := w.Inspect(ctx, old, swarm.RemoveOptions{Vacant: true})
		return state.Kept, err
	})
}

// existingDir returns dir, or the directory above it that exists, in which it would be made.
func existingDir(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", &os.PathError{Op: "mkdir", Path: dir, Err: unix.ENOTDIR}
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", &os.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist} // a link that leads nowhere
		}
		dir = filepath.Dir(dir)
	}
}
