package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// removalLimit bounds "git worktree remove", which continues when the caller gives up: half
// a worktree is of no use.
const removalLimit = 10 * time.Minute

// Inspect implements [swarm.Workspace].
func (w *Workspace) Inspect(ctx context.Context, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	r, unlock, kept, err := w.openBase(ctx, ref)
	if err != nil || kept != nil || r == nil {
		return swarm.WorkspaceState{Kept: kept, Missing: kept == nil && err == nil}, err
	}
	defer unlock()
	t, kept, err := inspectTree(ctx, r, ref, opts, w.submoduleLimit)
	if err != nil {
		return swarm.WorkspaceState{}, err
	}
	return swarm.WorkspaceState{Kept: kept, Missing: kept == nil && t.missing}, nil
}

// Remove implements [swarm.Workspace].
func (w *Workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.RemoveResult, error) {
	r, unlock, kept, err := w.openBase(ctx, ref)
	if err != nil || kept != nil || r == nil {
		return swarm.RemoveResult{Kept: kept, Astray: kept == nil && err == nil}, err
	}
	defer unlock()
	return w.removeLocked(ctx, r, ref, opts)
}

// openBase opens and locks the repository that ref names. Without a repository,
// a reason or an error, there is nothing to remove.
func (w *Workspace) openBase(ctx context.Context, ref swarm.WorkspaceRef) (*repo, func(), *swarm.Kept, error) {
	r, err := openRepo(ctx, w.git, ref.Base, true)
	if err == nil && r.main != ref.Base {
		err = fmt.Errorf("%s is not the main working tree of a repository", ref.Base)
	}
	var unlock func()
	if err == nil {
		unlock, err = r.lock(ctx, w.lockLimit)
	}
	if err == nil {
		return r, unlock, nil, nil
	}
	if _, gone := os.Lstat(ref.Path); errors.Is(gone, fs.ErrNotExist) && ctx.Err() == nil {
		return nil, nil, nil, nil
	}
	kept, err := failed(ctx, err, "its repository cannot be used")
	return nil, nil, kept, err
}

// removeLocked is Remove under the repository's lock.
func (w *Workspace) removeLocked(ctx context.Context, r *repo, ref swarm.WorkspaceRef, opts swarm.RemoveOptions) (swarm.RemoveResult, error) {
	opts.Vacant = false
	t, kept, err := inspectTree(ctx, r, ref, opts, w.submoduleLimit)
	if err != nil || kept != nil {
		return swarm.RemoveResult{Kept: kept}, err
	}
	var res swarm.RemoveResult
	if t.missing {
		// Git knows it still, so git has not removed it.
		astray := t.admin.dir != ""
		res, err = t.forget(ctx)
		res.Astray = astray
	} else {
		res, err = w.removeTree(ctx, t)
	}
	if opts.Undo && err == nil && res.Kept == nil {
		err = t.takeBack(ctx)
	}
	return res, err
}

// removeTree removes a worktree that passed the checks.
func (w *Workspace) removeTree(ctx context.Context, t *tree) (swarm.RemoveResult, error) {
	rescues, err := t.save(ctx)
	if err != nil {
		kept, err := failed(ctx, err, "cannot save its contents")
		return swarm.RemoveResult{Kept: kept}, err
	}
	if w.beforeRemoval != nil {
		w.beforeRemoval()
	}
	if kept, err := t.lastLook(ctx); err != nil || kept != nil {
		return swarm.RemoveResult{Kept: kept}, errors.Join(err, rescues.drop(ctx))
	}
	if err := t.remove(ctx); err != nil {
		// The rescues stay: git may have removed a part.
		for _, r := range rescues.list {
			err = fmt.Errorf("%w; its contents are saved as %s", err, r.Ref)
		}
		return swarm.RemoveResult{Rescues: rescues.list}, err
	}
	w.log.Debug("worktree removed", "rescues", len(rescues.list))
	return swarm.RemoveResult{Rescues: rescues.list}, nil
}

// remove runs the one command that removes anything.
func (t *tree) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalLimit)
	defer cancel()
	args := []string{"worktree", "remove"}
	g := t.repo.git
	if t.dirty || t.submodules {
		// Without --force git checks once more, by its own rules; but it refuses any
		// worktree with submodules.
		args = append(args, "--force")
	} else {
		g = g.confined(ctx)
	}
	if _, err := g.run(ctx, append(args, t.ref.Path)...); err != nil {
		return err
	}
	if _, err := os.Lstat(t.ref.Path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("git removed the worktree, but %s is still there", t.ref.Path)
	}
	return nil
}

// forget makes git forget a worktree whose directory is gone, if nothing is in
// its administrative directory that exists nowhere else. git forgets
// the rest by itself after some months.
func (t *tree) forget(ctx context.Context) (swarm.RemoveResult, error) {
	if t.admin.dir == "" || t.locked != nil {
		return swarm.RemoveResult{}, nil
	}
	if kept, err := t.operation(ctx); kept != nil || err != nil {
		return swarm.RemoveResult{}, ctx.Err()
	}
	if _, err := os.Lstat(t.admin.dir + "/modules"); err == nil {
		return swarm.RemoveResult{}, nil
	}
	if same, err := t.git.ask(ctx, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"); err != nil || !same {
		return swarm.RemoveResult{}, ctx.Err()
	}
	rescues, err := t.save(ctx)
	if err != nil {
		return swarm.RemoveResult{}, ctx.Err()
	}
	return swarm.RemoveResult{Rescues: rescues.list}, t.remove(ctx)
}

// keep returns the reason why a worktree is kept whatever the user's flags. A file's name in
// it can't break the message.
func keep(format string, args ...any) *swarm.Kept {
	return &swarm.Kept{Reason: safetext.Line(fmt.Sprintf(format, args...))}
}

// failed returns the reason for what failed to keep the worktree, or the error of the context
// if that has ended.
func failed(ctx context.Context, err error, what string) (*swarm.Kept, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return keep("%s: %s", what, errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable)), nil
}
