package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Diff implements [swarm.Differ].
func (w *Workspace) Diff(ctx context.Context, ref swarm.WorkspaceRef, o swarm.DiffOptions) (swarm.Diff, error) {
	if o.Summary {
		return summary(ctx, w.git, ref)
	}
	r, unlock, kept, err := w.openBase(ctx, ref)
	var t *tree
	if r != nil {
		defer unlock()
		if r.git, err = r.git.disarmed(ctx); err == nil {
			t, kept, err = r.find(ctx, ref)
		}
	}
	switch {
	case err != nil:
		return swarm.Diff{}, err
	case kept != nil:
		return swarm.Diff{}, fmt.Errorf("%w: %s", swarm.ErrUnavailable, kept.Reason)
	case t == nil || t.missing:
		return swarm.Diff{}, fmt.Errorf("worktree %s: %w", ref.Path, swarm.ErrNotFound)
	}
	return compareTree(ctx, t, o.Colour)
}

// compareTree compares a worktree with its beginning. The repository is locked and disarmed.
func compareTree(ctx context.Context, t *tree, colour swarm.Colour) (d swarm.Diff, err error) {
	if t.git, err = t.git.disarmed(ctx); err != nil {
		return swarm.Diff{}, err
	}
	if err := t.repo.plainObjects(); err != nil {
		return swarm.Diff{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	from, err := t.beginning(ctx)
	if err != nil {
		return swarm.Diff{}, err
	}
	to, err := t.now(ctx)
	if err != nil {
		return swarm.Diff{}, err
	}
	if d.Files, err = t.repo.changes(ctx, from, to); err != nil {
		return swarm.Diff{}, err
	}
	d.Ahead, d.Behind = t.git.distance(ctx)
	d.Command, d.Env, d.Unset, err = t.repo.show(ctx, from, to, colour)
	return d, err
}

// beginning returns the commit that was checked out when the worktree was made: the first
// one in the log of its HEAD. Without that log it is where its branch left the main working
// tree's.
func (t *tree) beginning(ctx context.Context) (string, error) {
	if first := t.admin.firstHead(); first != "" {
		hash, err := t.git.line(ctx, "rev-parse", "--quiet", "--verify", first+"^{commit}")
		if err == nil {
			return hash, nil
		}
	}
	if t.head == "" {
		return t.repo.emptyTree(ctx)
	}
	base, err := t.repo.git.line(ctx, "merge-base", "HEAD", t.head)
	if err != nil {
		return t.head, ctx.Err()
	}
	return base, nil
}

// now makes a tree of the files as they are, new ones too, in a copy of the index. Ignored
// files are left out.
func (t *tree) now(ctx context.Context) (string, error) {
	if _, err := t.readIndex(ctx); err != nil {
		return "", err
	}
	if err := t.examineNested(); err != nil {
		return "", fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	var err error
	if t.untracked, err = t.git.list(ctx, "ls-files", "-z", "--others", "--exclude-standard"); err != nil {
		return "", err
	}
	// A repository of its own in the worktree is not a part of this one.
	t.untracked = slices.DeleteFunc(t.untracked, func(path string) bool {
		info, err := os.Lstat(filepath.Join(t.ref.Path, path))
		return err != nil || !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0
	})
	hash, saved, _, err := t.workTree(ctx)
	if err != nil {
		return "", err
	}
	return t.withRefused(ctx, hash, saved)
}

// show returns the git command that prints a difference. It reads two trees and no working
// tree. The repository's configuration could name programs; none of them runs: the pager is
// the user's.
func (r *repo) show(ctx context.Context, from, to string, colour swarm.Colour) (command, env, unset []string, err error) {
	pager, err := r.pager(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "-O/dev/null"}
	switch {
	case colour == swarm.ColourAlways:
		args = append(args, "--color=always")
	case colour == swarm.ColourNever || os.Getenv("NO_COLOR") != "":
		args = append(args, "--no-color")
	}
	command, env, unset = r.git.set("pager.diff=true").forUser(append(args, from, to, "--")...)
	return command, append(env, "GIT_PAGER="+pager, "GIT_NO_LAZY_FETCH=1"), unset, nil
}

// pager returns the user's pager, as git finds it but for the repository's configuration.
func (r *repo) pager(ctx context.Context) (string, error) {
	if p := os.Getenv("GIT_PAGER"); p != "" {
		return p, nil
	}
	for _, scope := range []string{"--global", "--system"} {
		p, err := r.git.line(ctx, "config", scope, "--default=", "--get", "core.pager")
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil && p != "" {
			return p, nil
		}
	}
	if p := os.Getenv("PAGER"); p != "" {
		return p, nil
	}
	return "less", nil
}
