package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// branchOf returns the branch that spec asks for.
func branchOf(spec swarm.WorkspaceSpec) string { return cmp.Or(spec.Branch, spec.Name) }

// start is where a new branch begins.
type start struct {
	// commit is empty if the branch exists and can be used.
	commit string
	// upstream is the full name of the remote's branch that it follows, or empty.
	upstream string
}

// startOf returns where to make the branch that spec asks for. The worktrees in going are about to be
// removed.
func (r *repo) startOf(ctx context.Context, spec swarm.WorkspaceSpec, going ...string) (start, error) {
	branch := branchOf(spec)
	// The answer differs from the question for shorthands such as @{-1}.
	if full, err := r.git.line(ctx, "check-ref-format", "--branch", branch); err != nil || full != branch {
		if ctx.Err() != nil {
			return start{}, ctx.Err()
		}
		return start{}, invalid("'%s' is not a valid branch name", branch)
	}
	exists, err := r.hasRef(ctx, "refs/heads/"+branch)
	if err != nil {
		return start{}, err
	}
	if exists {
		at, err := r.checkedOutAt(ctx, branch, going...)
		if at != "" {
			return start{}, invalid("branch '%s' is already checked out at %s", branch, at)
		}
		return start{}, err
	}
	guess := spec.Branch != ""
	if !guess {
		// As git does for a worktree whose branch is not named.
		out, err := r.git.line(ctx, "config", "--type=bool", "--default=false", "--get", "worktree.guessRemote")
		if err != nil {
			return start{}, err
		}
		guess = out == "true"
	}
	if guess {
		if s, err := r.remoteStart(ctx, branch); err != nil || s.commit != "" {
			return s, err
		}
	}
	// Where the caller stands, which may be another worktree than the main one.
	commit, err := r.from.line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if _, ok := errors.AsType[*gitError](err); ok {
		return start{}, invalid("repository %s has no commit yet, and a worktree needs one", r.main)
	}
	return start{commit: commit}, err
}

func (r *repo) hasRef(ctx context.Context, name string) (bool, error) {
	return r.git.ask(ctx, "show-ref", "--verify", "--quiet", name)
}

// remoteStart returns where to make a branch that a remote has, as "git worktree add" does: at
// the remote's branch, which becomes its upstream. It is empty if no remote has the branch. A
// name that means something else than a branch is refused: the new branch would not have its
// commits.
func (r *repo) remoteStart(ctx context.Context, branch string) (start, error) {
	found, err := r.tracking(ctx, branch)
	if err != nil {
		return start{}, err
	}
	if len(found) == 0 {
		for _, other := range []struct{ ref, text string }{
			{"refs/remotes/" + branch, "'%[1]s' is the branch of a remote: name the branch without the remote, as in --branch %[2]s"},
			{"refs/tags/" + branch, "'%[1]s' is a tag: a branch of this name would not be at it; 'git branch NAME %[1]s' makes one that --branch NAME uses"},
		} {
			exists, err := r.hasRef(ctx, other.ref)
			if err != nil {
				return start{}, err
			}
			if exists {
				_, short, _ := strings.Cut(branch, "/")
				return start{}, invalid("%s", fmt.Sprintf(other.text, branch, short))
			}
		}
		return start{}, nil
	}
	remotes := slices.Sorted(maps.Keys(found))
	if len(remotes) > 1 {
		chosen, err := r.git.line(ctx, "config", "--default=", "--get", "checkout.defaultRemote")
		if err != nil {
			return start{}, err
		}
		if found[chosen] == "" {
			return start{}, invalid("branch '%s' is on several remotes (%s): make it with 'git branch %s %s/%s', or set checkout.defaultRemote",
				branch, strings.Join(remotes, ", "), branch, remotes[0], branch)
		}
		remotes = []string{chosen}
	}
	upstream := found[remotes[0]]
	commit, err := r.git.line(ctx, "rev-parse", "--quiet", "--verify", upstream+"^{commit}")
	if err != nil {
		return start{}, refused(err, "cannot use branch '%s' of remote '%s'", branch, remotes[0])
	}
	return start{commit: commit, upstream: upstream}, nil
}

// tracking returns, for each remote that had a branch when it was fetched, the reference that
// follows the branch here.
func (r *repo) tracking(ctx context.Context, branch string) (map[string]string, error) {
	specs, err := r.git.list(ctx, "config", "-z", "--get-regexp", `^remote\..*\.fetch$`)
	if failed, ok := errors.AsType[*gitError](err); ok && failed.code == 1 {
		return nil, nil // there is no remote
	}
	if err != nil {
		return nil, err
	}
	found := make(map[string]string)
	for _, line := range specs {
		key, spec, _ := strings.Cut(line, "\n")
		remote := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".fetch")
		ref := mapped(spec, "refs/heads/"+branch)
		if ref == "" || found[remote] != "" {
			continue
		}
		exists, err := r.hasRef(ctx, ref)
		if err != nil {
			return nil, err
		}
		if exists {
			found[remote] = ref
		}
	}
	return found, nil
}

// mapped returns where a refspec puts a reference, or an empty text, see git-fetch(1).
func mapped(spec, ref string) string {
	from, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok || strings.HasPrefix(spec, "^") {
		return ""
	}
	before, after, pattern := strings.Cut(from, "*")
	if !pattern {
		if from != ref {
			return ""
		}
		return to
	}
	rest, ok := strings.CutPrefix(ref, before)
	if !ok || !strings.HasSuffix(rest, after) {
		return ""
	}
	return strings.Replace(to, "*", strings.TrimSuffix(rest, after), 1)
}

// makeBranch creates a branch that does not exist. It fails if another process was faster,
// so that only its own branch is undone.
func (r *repo) makeBranch(ctx context.Context, id, branch string, at start, done *undo) error {
	name := "refs/heads/" + branch
	if err := r.plainRef(name); err != nil {
		return invalid("cannot make branch '%s': %w", branch, err)
	}
	if err := r.git.whole(ctx, "update-ref", "--create-reflog", "-m", madeFor(id), name, at.commit, zeros(at.commit)); err != nil {
		return refused(err, "cannot make branch '%s'", branch)
	}
	// A branch with new commits stays.
	done.add(func(ctx context.Context) error {
		if err := r.deleteRef(ctx, name, at.commit); err != nil {
			return err
		}
		return r.forgetBranch(ctx, branch)
	})
	if at.upstream != "" {
		if err := r.git.whole(ctx, "branch", "--quiet", "--set-upstream-to="+at.upstream, branch); err != nil {
			return refused(err, "cannot set the upstream of branch '%s'", branch)
		}
	}
	return ctx.Err()
}

// forgetBranch removes the configuration of a branch that is gone, as git does with a branch.
func (r *repo) forgetBranch(ctx context.Context, branch string) error {
	if has, err := r.git.ask(ctx, "config", "--local", "--get", "branch."+branch+".merge"); err != nil || !has {
		return err
	}
	return r.git.whole(ctx, "config", "--local", "--remove-section", "branch."+branch)
}

// deleteRef deletes a reference if it is still at hash, which git compares.
func (r *repo) deleteRef(ctx context.Context, name, hash string) error {
	if err := r.plainRef(name); err != nil {
		return err
	}
	return r.git.whole(ctx, "update-ref", "-d", name, hash)
}

// wholeLimit bounds a command that is not cut short when its caller gives up.
const wholeLimit = 30 * time.Second

// whole runs a short command that is never cut short: a git that is ended in the middle
// leaves children behind that continue to write.
func (g git) whole(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wholeLimit)
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
