package worktree

import (
	"cmp"
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/swarm"
)

// branchOf returns the branch that spec asks for.
func branchOf(spec swarm.WorkspaceSpec) string { return cmp.Or(spec.Branch, spec.Name) }

// startOf returns the commit to make the branch at, empty if the branch exists
// and can be used.
func (r *repo) startOf(ctx context.Context, branch string) (string, error) {
	// The answer differs from the question for shorthands such as @{-1}.
	if full, err := r.git.line(ctx, "check-ref-format", "--branch", branch); err != nil || full != branch {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", invalid("'%s' is not a valid branch name", branch)
	}
	exists, err := r.git.ask(ctx, "show-ref", "--verify", "--quiet", "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	if exists {
		at, err := r.checkedOutAt(ctx, branch)
		if at != "" {
			return "", invalid("branch '%s' is already checked out at %s", branch, at)
		}
		return "", err
	}
	// Where the caller stands, which may be another worktree than the main one.
	start, err := r.from.line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if _, ok := errors.AsType[*gitError](err); ok {
		return "", invalid("repository %s has no commit yet, and a worktree needs one", r.main)
	}
	return start, err
}

// makeBranch creates a branch that does not exist. It fails if another process was faster,
// so that only its own branch is undone.
func (r *repo) makeBranch(ctx context.Context, id, branch, start string, done *undo) error {
	name := "refs/heads/" + branch
	if err := r.plainRef(name); err != nil {
		return invalid("cannot make branch '%s': %w", branch, err)
	}
	if err := whole(ctx, r.git, "update-ref", "--create-reflog", "-m", madeFor(id), name, start, zeros(start)); err != nil {
		return refused(err, "cannot make branch '%s'", branch)
	}
	// A branch with new commits stays.
	done.add(func(ctx context.Context) error { return r.deleteRef(ctx, name, start) })
	return ctx.Err()
}

// deleteRef deletes a reference if it is still at hash, which git compares.
func (r *repo) deleteRef(ctx context.Context, name, hash string) error {
	if err := r.plainRef(name); err != nil {
		return err
	}
	return whole(ctx, r.git, "update-ref", "-d", name, hash)
}

// whole runs a short command that is never cut short: a git that is ended in the middle
// leaves children behind that continue to write.
func whole(ctx context.Context, g git, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	_, err := g.run(ctx, args...)
	return err
}

func refused(err error, format string, args ...any) error {
	if _, ok := errors.AsType[*gitError](err); ok {
		return invalid(format+": %w", append(args, err)...)
	}
	return err
}
