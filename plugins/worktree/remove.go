package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/plugins/worktree/rescue"
	"github.com/swarmhost/swarm/shared/swarm"
)

// removalLimit bounds "git worktree remove", which continues when the caller gives up: half
// a worktree is useless.
const removalLimit = 10 * time.Minute

func (w *Workspace) Inspect(ctx context.Context, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.WorkspaceState{}, err
	}
	r, unlock, kept, err := w.openBase(ctx, ref)
	if err != nil || kept != nil || r == nil {
		return swarm.WorkspaceState{Kept: kept, Missing: kept == nil && err == nil}, err
	}
	defer unlock()
	t, kept, err := inspect.Worktree(ctx, r, ref, opts, w.submoduleLimit)
	if err != nil {
		return swarm.WorkspaceState{}, err
	}
	return swarm.WorkspaceState{Kept: kept, Missing: kept == nil && t.Missing}, nil
}

func (w *Workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.RemoveResult, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.RemoveResult{}, err
	}
	r, unlock, kept, err := w.openBase(ctx, ref)
	if err != nil || kept != nil || r == nil {
		return swarm.RemoveResult{Kept: kept, Astray: kept == nil && err == nil}, err
	}
	defer unlock()
	return w.removeLocked(ctx, r, ref, opts)
}

// checkHandle refuses a worktree with a handle, which only another version of the plugin writes.
func checkHandle(ref swarm.WorkspaceRef) error {
	if !ref.Handle.IsZero() {
		return fmt.Errorf("%w: worktree %s has one of version %d, this plugin knows none", swarm.ErrInvalidHandle, ref.Path, ref.Handle.Version)
	}
	return nil
}

// openBase opens and locks the repository that ref names. Without a repository,
// a reason or an error, there is nothing to remove.
func (w *Workspace) openBase(ctx context.Context, ref swarm.WorkspaceRef) (*repo.Repo, func(), *swarm.Kept, error) {
	r, err := repo.Open(ctx, w.git, ref.Base, true)
	if err == nil && r.Main != ref.Base {
		err = fmt.Errorf("%s is not the main working tree of a repository", ref.Base)
	}
	var unlock func()
	if err == nil {
		unlock, err = r.Lock(ctx, w.lockLimit)
	}
	if err == nil {
		return r, unlock, nil, nil
	}
	if _, gone := os.Lstat(ref.Path); errors.Is(gone, fs.ErrNotExist) && ctx.Err() == nil {
		return nil, nil, nil, nil
	}
	kept, err := inspect.Failed(ctx, err, "its repository cannot be used")
	return nil, nil, kept, err
}

// removeLocked is Remove under the repository's lock.
func (w *Workspace) removeLocked(ctx context.Context, r *repo.Repo, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.RemoveResult, error) {
	opts.Vacant = false
	t, kept, err := inspect.Worktree(ctx, r, ref, opts, w.submoduleLimit)
	if err != nil || kept != nil {
		return swarm.RemoveResult{Kept: kept}, err
	}
	var res swarm.RemoveResult
	if t.Missing {
		// Git knows it still, so git has not removed it.
		astray := t.Admin.Dir != ""
		res, err = forgetGone(ctx, t)
		res.Astray = astray
	} else {
		res, err = w.removeTree(ctx, t)
	}
	if opts.Undo && err == nil && res.Kept == nil {
		err = takeBack(ctx, t)
	}
	return res, err
}

// removeTree removes a worktree that passed the checks.
func (w *Workspace) removeTree(ctx context.Context, t *inspect.Tree) (swarm.RemoveResult, error) {
	rescues, err := rescue.Save(ctx, t)
	if err != nil {
		kept, err := inspect.Failed(ctx, err, "cannot save its contents")
		return swarm.RemoveResult{Kept: kept}, err
	}
	if w.beforeRemoval != nil {
		w.beforeRemoval()
	}
	if kept, err := t.LastLook(ctx); err != nil || kept != nil {
		return swarm.RemoveResult{Kept: kept}, errors.Join(err, rescues.Drop(ctx))
	}
	if err := removeByGit(ctx, t); err != nil {
		// The rescues stay: git may have removed a part.
		for _, r := range rescues.List {
			err = fmt.Errorf("%w; its contents are saved as %s", err, r.Ref)
		}
		return swarm.RemoveResult{Rescues: rescues.List}, err
	}
	w.log.Debug("worktree removed", "rescues", len(rescues.List))
	return swarm.RemoveResult{Rescues: rescues.List}, nil
}

// removeByGit runs the one command that removes anything.
func removeByGit(ctx context.Context, t *inspect.Tree) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalLimit)
	defer cancel()
	args := []string{"worktree", "remove"}
	g := t.Repo.Git
	if t.Dirty || t.Submodules {
		// Without --force git checks once more, by its own rules; but it refuses any
		// worktree with submodules.
		args = append(args, "--force")
	} else {
		g = g.Confined(ctx)
	}
	if _, err := g.Run(ctx, append(args, t.Ref.Path)...); err != nil {
		return err
	}
	if _, err := os.Lstat(t.Ref.Path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("git removed the worktree, but %s is still there", t.Ref.Path)
	}
	return nil
}

// forgetGone makes git forget a worktree whose directory is gone, if nothing is in
// its administrative directory that exists nowhere else. git forgets
// the rest by itself after some months.
func forgetGone(ctx context.Context, t *inspect.Tree) (swarm.RemoveResult, error) {
	if t.Admin.Dir == "" || t.Locked != nil {
		return swarm.RemoveResult{}, nil
	}
	if kept, err := t.Operation(ctx); kept != nil || err != nil {
		return swarm.RemoveResult{}, ctx.Err()
	}
	if _, err := os.Lstat(t.Admin.Dir + "/modules"); err == nil {
		return swarm.RemoveResult{}, nil
	}
	if same, err := t.Git.Ask(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"); err != nil || !same {
		return swarm.RemoveResult{}, ctx.Err()
	}
	rescues, err := rescue.Save(ctx, t)
	if err != nil {
		return swarm.RemoveResult{}, ctx.Err()
	}
	return swarm.RemoveResult{Rescues: rescues.List}, removeByGit(ctx, t)
}

// takeBack removes the branch and the directories that Create made for a worktree that
// is gone, if they have not changed since.
func takeBack(ctx context.Context, t *inspect.Tree) error {
	for dir := filepath.Dir(t.Ref.Path); t.Admin.Above > 0; t.Admin.Above-- {
		if unix.Rmdir(dir) != nil {
			break // it is not empty
		}
		dir = filepath.Dir(dir)
	}
	return t.Repo.DropBranch(ctx, t.Ref)
}
