package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/shared/swarm"
)

// BranchOf returns the branch that spec asks for.
func BranchOf(spec swarm.WorkspaceSpec) string { return cmp.Or(spec.Branch, spec.Name) }

// Start is where a new branch begins.
type Start struct {
	// Commit is empty if the branch exists and can be used.
	Commit string
	// upstream is the full name of the remote's branch that it follows, or empty.
	upstream string
}

// StartOf returns where to make the branch that spec asks for. The worktrees in going are about to be
// removed.
func (r *Repo) StartOf(ctx context.Context, spec swarm.WorkspaceSpec, going ...string) (Start, error) {
	branch := BranchOf(spec)
	// The answer differs from the question for shorthands such as @{-1}.
	if full, err := r.Git.Line(ctx, "check-ref-format", "--branch", branch); err != nil || full != branch {
		if ctx.Err() != nil {
			return Start{}, ctx.Err()
		}
		return Start{}, Invalid("'%s' is not a valid branch name", branch)
	}
	exists, err := r.hasRef(ctx, "refs/heads/"+branch)
	if err != nil {
		return Start{}, err
	}
	if exists {
		at, err := r.CheckedOutAt(ctx, branch, going...)
		if at != "" {
			return Start{}, Invalid("branch '%s' is already checked out at %s", branch, at)
		}
		return Start{}, err
	}
	guess := spec.Branch != ""
	if !guess {
		// As git does for a worktree whose branch is not named.
		out, err := r.Git.Line(ctx, "config", "--type=bool", "--default=false", "--get", "worktree.guessRemote")
		if err != nil {
			return Start{}, err
		}
		guess = out == "true"
	}
	if guess {
		if s, err := r.remoteStart(ctx, branch); err != nil || s.Commit != "" {
			return s, err
		}
	}
	// Where the caller stands, which may be another worktree than the main one.
	commit, err := r.from.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if _, ok := errors.AsType[*git.Error](err); ok {
		return Start{}, Invalid("repository %s has no commit yet, and a worktree needs one", r.Main)
	}
	return Start{Commit: commit}, err
}

func (r *Repo) hasRef(ctx context.Context, name string) (bool, error) {
	return r.Git.Ask(ctx, "show-ref", "--verify", "--quiet", name)
}

// remoteStart returns where to make a branch that a remote has, as "git worktree add" does: at
// the remote's branch, which becomes its upstream. It is empty if no remote has the branch. A
// name that means something else than a branch is refused: the new branch would not have its
// commits.
func (r *Repo) remoteStart(ctx context.Context, branch string) (Start, error) {
	found, err := r.trackingRefs(ctx, branch)
	if err != nil {
		return Start{}, err
	}
	if len(found) == 0 {
		for _, other := range []struct{ ref, text string }{
			{"refs/remotes/" + branch, "'%[1]s' is the branch of a remote: name the branch without the remote, as in --branch %[2]s"},
			{"refs/tags/" + branch, "'%[1]s' is a tag: a branch of this name would not be at it; 'git branch NAME %[1]s' makes one that --branch NAME uses"},
		} {
			exists, err := r.hasRef(ctx, other.ref)
			if err != nil {
				return Start{}, err
			}
			if exists {
				_, short, _ := strings.Cut(branch, "/")
				return Start{}, Invalid("%s", fmt.Sprintf(other.text, branch, short))
			}
		}
		return Start{}, nil
	}
	remotes := slices.Sorted(maps.Keys(found))
	if len(remotes) > 1 {
		chosen, err := r.Git.Line(ctx, "config", "--default=", "--get", "checkout.defaultRemote")
		if err != nil {
			return Start{}, err
		}
		if found[chosen] == "" {
			return Start{}, Invalid("branch '%s' is on several remotes (%s): make it with 'git branch %s %s/%s', or set checkout.defaultRemote",
				branch, strings.Join(remotes, ", "), branch, remotes[0], branch)
		}
		remotes = []string{chosen}
	}
	upstream := found[remotes[0]]
	commit, err := r.Git.Line(ctx, "rev-parse", "--quiet", "--verify", upstream+"^{commit}")
	if err != nil {
		return Start{}, refused(err, "cannot use branch '%s' of remote '%s'", branch, remotes[0])
	}
	return Start{Commit: commit, upstream: upstream}, nil
}

// trackingRefs returns, for each remote that had a branch when it was fetched, the reference that
// follows the branch here.
func (r *Repo) trackingRefs(ctx context.Context, branch string) (map[string]string, error) {
	specs, err := r.Git.List(ctx, "config", "-z", "--get-regexp", `^remote\..*\.fetch$`)
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Code == 1 {
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

// MakeBranch creates a branch that does not exist. It fails if another process was faster,
// so that only its own branch is undone.
func (r *Repo) MakeBranch(ctx context.Context, id, branch string, at Start, done *Undo) error {
	name := "refs/heads/" + branch
	if err := r.PlainRef(name); err != nil {
		return Invalid("cannot make branch '%s': %w", branch, err)
	}
	if err := r.Git.RunWhole(ctx, "update-ref", "--create-reflog", "-m", madeFor(id), name, at.Commit, Zeros(at.Commit)); err != nil {
		return refused(err, "cannot make branch '%s'", branch)
	}
	// A branch with new commits stays.
	done.add(func(ctx context.Context) error {
		if err := r.DeleteRef(ctx, name, at.Commit); err != nil {
			return err
		}
		return r.forgetBranch(ctx, branch)
	})
	if at.upstream != "" {
		if err := r.Git.RunWhole(ctx, "branch", "--quiet", "--set-upstream-to="+at.upstream, branch); err != nil {
			return refused(err, "cannot set the upstream of branch '%s'", branch)
		}
	}
	return ctx.Err()
}

// forgetBranch removes the configuration of a branch that is gone, as git does with a branch.
func (r *Repo) forgetBranch(ctx context.Context, branch string) error {
	if has, err := r.Git.Ask(ctx, "config", "--local", "--get", "branch."+branch+".merge"); err != nil || !has {
		return err
	}
	return r.Git.RunWhole(ctx, "config", "--local", "--remove-section", "branch."+branch)
}

// DeleteRef deletes a reference if it is still at hash, which git compares.
func (r *Repo) DeleteRef(ctx context.Context, name, hash string) error {
	if err := r.PlainRef(name); err != nil {
		return err
	}
	return r.Git.RunWhole(ctx, "update-ref", "-d", name, hash)
}

// refused returns err for the user, if git refused to do something.
func refused(err error, format string, args ...any) error {
	if _, ok := errors.AsType[*git.Error](err); ok {
		return Invalid(format+": %w", append(args, err)...)
	}
	return err
}

// CheckNewBranch returns the error with which MakeBranch would fail.
func (r *Repo) CheckNewBranch(ctx context.Context, branch string) error {
	if err := r.PlainRef("refs/heads/" + branch); err != nil {
		return Invalid("cannot make branch '%s': %w", branch, err)
	}
	// Git keeps no branch whose name is a directory of another one.
	for i, c := range branch {
		if c != '/' {
			continue
		}
		exists, err := r.hasRef(ctx, "refs/heads/"+branch[:i])
		if err != nil {
			return err
		}
		if exists {
			return Invalid("cannot make branch '%s': there is a branch '%s'", branch, branch[:i])
		}
	}
	below, err := r.Git.Line(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "refs/heads/"+branch+"/")
	if err == nil && below != "" {
		return Invalid("cannot make branch '%s': there is a branch '%s'", branch, strings.TrimPrefix(below, "refs/heads/"))
	}
	return err
}

// DropBranch deletes the branch of a worktree that is gone, if the branch was made
// for that worktree's worker and nothing has happened to it since then. It is the
// only place where a branch is deleted that Create returned.
func (r *Repo) DropBranch(ctx context.Context, ref swarm.WorkspaceRef) error {
	if ref.Branch == "" || ref.ID == "" {
		return nil
	}
	name := "refs/heads/" + ref.Branch
	exists, err := r.Git.Ask(ctx, "show-ref", "--verify", "--quiet", name)
	if err != nil || !exists {
		return err
	}
	if at, err := r.CheckedOutAt(ctx, ref.Branch); err != nil || at != "" {
		return err
	}
	// Git writes every change of a branch into its log once there is one. A single entry is
	// its creation.
	log, err := r.Git.List(ctx, "log", "--walk-reflogs", "-z", "--format=%H %gs", name, "--")
	if err != nil || len(log) != 1 {
		return err
	}
	start, what, _ := strings.Cut(log[0], " ")
	if what != madeFor(ref.ID) {
		return nil
	}
	if err := r.DeleteRef(ctx, name, start); err != nil {
		return err
	}
	return r.forgetBranch(ctx, ref.Branch)
}

// madeFor is the log entry of a branch that was created for a worker.
func madeFor(id string) string { return "branch: created by swarm for " + id }

// Zeros is what git calls a ref that does not exist, for the hash in use.
func Zeros(hash string) string { return strings.Repeat("0", len(hash)) }
