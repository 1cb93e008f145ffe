// Package diff compares a worktree with its beginning.
//
// It is imported by package [github.com/swarmhost/swarm/plugins/worktree] alone.
package diff

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/plugins/worktree/inspect"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Compare compares a worktree with its beginning. The repository is locked and disarmed.
func Compare(ctx context.Context, t *inspect.Tree, colour swarm.Colour) (d swarm.Diff, err error) {
	if t.Git, err = t.Git.Disarmed(ctx); err != nil {
		return swarm.Diff{}, err
	}
	if err := t.Repo.PlainObjects(); err != nil {
		return swarm.Diff{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	from, err := startOf(ctx, t)
	if err != nil {
		return swarm.Diff{}, err
	}
	to, err := now(ctx, t)
	if err != nil {
		return swarm.Diff{}, err
	}
	if d.Files, err = t.Repo.Changes(ctx, from, to); err != nil {
		return swarm.Diff{}, err
	}
	d.Ahead, d.Behind = distance(ctx, t.Git)
	d.Command, d.Env, d.Unset, err = show(ctx, t.Repo, from, to, colour)
	return d, err
}

// startOf returns the commit that was checked out when the worktree was made: the first
// one in the log of its HEAD. Without that log it is where its branch left the main working
// tree's.
func startOf(ctx context.Context, t *inspect.Tree) (string, error) {
	if first := t.Admin.FirstHead(); first != "" {
		hash, err := t.Git.Line(ctx, "rev-parse", "--quiet", "--verify", first+"^{commit}")
		if err == nil {
			return hash, nil
		}
	}
	if t.Head == "" {
		return t.Repo.EmptyTree(ctx)
	}
	base, err := t.Repo.Git.Line(ctx, "merge-base", "HEAD", t.Head)
	if err != nil {
		return t.Head, ctx.Err()
	}
	return base, nil
}

// now makes a tree of the files as they are, new ones too, in a copy of the index. Ignored
// files are left out.
func now(ctx context.Context, t *inspect.Tree) (string, error) {
	if _, err := t.ReadIndex(ctx); err != nil {
		return "", err
	}
	if err := t.ExamineNested(); err != nil {
		return "", fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	var err error
	if t.Untracked, err = t.Git.List(ctx, "ls-files", "-z", "--others", "--exclude-standard"); err != nil {
		return "", err
	}
	// A repository of its own in the worktree is not a part of this one.
	t.Untracked = slices.DeleteFunc(t.Untracked, func(path string) bool {
		info, err := os.Lstat(filepath.Join(t.Ref.Path, path))
		return err != nil || !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0
	})
	hash, saved, _, err := t.WorkTree(ctx)
	if err != nil {
		return "", err
	}
	return withRefused(ctx, t, hash, saved)
}

// show returns the git command that prints a difference. It reads two trees and no working
// tree. The repository's configuration could name programs; none of them runs: the pager is
// the user's.
func show(ctx context.Context, r *repo.Repo, from, to string, colour swarm.Colour) (command, env, unset []string, err error) {
	pager, err := pager(ctx, r)
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
	command, env, unset = r.Git.Set("pager.diff=true").ForUser(append(args, from, to, "--")...)
	return command, append(env, "GIT_PAGER="+pager, "GIT_NO_LAZY_FETCH=1"), unset, nil
}

// pager returns the user's pager, as git finds it but for the repository's configuration.
func pager(ctx context.Context, r *repo.Repo) (string, error) {
	if p := os.Getenv("GIT_PAGER"); p != "" {
		return p, nil
	}
	for _, scope := range []string{"--global", "--system"} {
		p, err := r.Git.Line(ctx, "config", scope, "--default=", "--get", "core.pager")
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
