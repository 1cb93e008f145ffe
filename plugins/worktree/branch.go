package worktree

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/shared/swarm"
)

// branchOf returns the branch that spec asks for.
func branchOf(spec swarm.WorkspaceSpec) string {
	if spec.Branch != "" {
		return spec.Branch
	}
	return spec.Name
}

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
		trees, err := r.worktrees(ctx)
		if err != nil {
			return "", err
		}
		for _, t := range trees {
			if t.branch == branch {
				return "", invalid("branch '%s' is already checked out at %s", branch, t.path)
			}
		}
		return "", nil
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
	if err := r.plainRefs(name); err != nil {
		return invalid("cannot make branch '%s': %w", branch, err)
	}
	if err := whole(ctx, r.git, "update-ref", "--create-reflog", "-m", madeFor(id), name, start, zeros(start)); err != nil {
		return refused(err, "cannot make branch '%s'", branch)
	}
	done.add(func(ctx context.Context) error {
		if err := r.plainRefs(name); err != nil {
			return err
		}
		// A branch with new commits stays: git compares the hash.
		_, err := r.git.run(ctx, "update-ref", "-d", name, start)
		return err
	})
	return ctx.Err()
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
