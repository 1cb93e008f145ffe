package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/plugins/worktree/git"
)

// CheckOut makes the worktree of a worker.
func (r *Repo) CheckOut(ctx context.Context, id, path, branch string, above int, done *Undo) error {
	// The mark comes before the files, so that an unfinished worktree is found by its id.
	inside, dir, err := r.AddWorktree(ctx, done, path, branch)
	if err != nil {
		return err
	}
	a := Admin{Dir: dir, Above: above}
	if err := a.mark(id); err != nil {
		return err
	}
	// Unlike reset, this locks no ref: a git that is ended in the very moment in which it
	// makes a lock file leaves it behind, and the branch could not be taken back.
	if _, err := inside.Run(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"); err != nil {
		return err
	}
	return a.write(madeFile, "")
}

// AddWorktree makes a worktree without files. It returns a git that runs there, and the
// administrative directory.
func (r *Repo) AddWorktree(ctx context.Context, done *Undo, path, start string, flags ...string) (git.Git, string, error) {
	done.add(func(ctx context.Context) error { return r.forget(ctx, path) })
	add := slices.Concat([]string{"worktree", "add", "--quiet", "--no-checkout"}, flags, []string{path, start})
	if err := r.Git.RunWhole(ctx, add...); err != nil {
		return git.Git{}, "", refused(err, "cannot make worktree %s", path)
	}
	all, err := Admins(r.Common)
	if err != nil {
		return git.Git{}, "", err
	}
	at := slices.IndexFunc(all, func(a Admin) bool { return a.Worktree == path })
	if at < 0 {
		return git.Git{}, "", fmt.Errorf("git made no worktree %s", path)
	}
	return r.Git.Within(path, all[at].Dir, r.Common), all[at].Dir, nil
}

// forget removes an unfinished worktree. Only git has written into it.
func (r *Repo) forget(ctx context.Context, path string) error {
	trees, err := r.Worktrees(ctx)
	if err != nil || !slices.ContainsFunc(trees[1:], func(t WorkingTree) bool { return t.Path == path }) {
		return err
	}
	// Twice: git locks a worktree while it makes it.
	_, err = r.Git.Run(ctx, "worktree", "remove", "--force", "--force", path)
	return err
}
