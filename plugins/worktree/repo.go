package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/swarm"
)

var errNotRepository = invalid("not in a git repository (required for --worktree)")

// invalid returns an error that is [swarm.ErrInvalidSpec].
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidSpec}, args...)...)
}

type repo struct {
	// git runs in main, from in the working tree that was asked about.
	git, from git
	// main is the main working tree, common the directory that all working
	// trees share. Both are absolute and free of symbolic links. Of a bare repository,
	// which has no main working tree, both are the same.
	main, common string
	// dir is the directory that was asked about, relative to the top of its working
	// tree; empty: the top.
	dir string
	// shared says that others can write it, so that its filters do not run.
	shared bool
}

// openRepo finds the repository that dir is in: in its main working tree, in a
// linked one, or anywhere below. With base, dir is what a ref names as its base,
// which may be a bare repository itself.
func openRepo(ctx context.Context, g git, dir string, base bool) (*repo, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, invalid("no directory %s", dir)
	} else if !info.IsDir() {
		return nil, invalid("%s is not a directory", dir)
	}
	l, err := gitdir.Discover(dir)
	if errors.Is(err, gitdir.ErrNotFound) {
		return nil, errNotRepository
	}
	if err != nil {
		return nil, invalid("cannot use the git repository of %s: %w", dir, err)
	}
	if l.Bare && (!base || l.Top != dir) {
		// A clone of a repository brings such directories with it, and their configuration
		// too. It can't bring a .git, which would name the directory as the repository of the
		// outer one.
		above, err := gitdir.Discover(filepath.Dir(l.Top))
		if itself := err == nil && above.Common == l.Common; !itself && !errors.Is(err, gitdir.ErrNotFound) {
			return nil, invalid("repository %s is bare and lies in another one, %s: it may have come with that, so it is not used; call this in a worktree of it",
				l.Top, cmp.Or(above.Top, filepath.Dir(l.Top)))
		}
	}
	if l.Bare {
		g = g.set("safe.bareRepository=all")
	}
	g = g.at(dir)
	if l.Dir == "" {
		g = g.at(l.Top) // dir may be in .git
	}
	// Here git itself decides whether it is safe to use the repository.
	found, err := g.paths(ctx, "--git-common-dir", "--absolute-git-dir", "--show-toplevel")
	if _, ok := errors.AsType[*gitError](err); ok {
		// It may be a bare one, which has no top.
		found, err = g.paths(ctx, "--git-common-dir", "--absolute-git-dir")
		found = append(found, "")
	}
	if err != nil {
		return nil, notRepository(dir, err)
	}
	common, own, top := found[0], found[1], found[2]
	if common, err = filepath.EvalSymlinks(common); err != nil {
		return nil, err
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return nil, err
	}
	if own != l.GitDir || common != l.Common {
		return nil, invalid("cannot tell which repository %s is in: %s or %s", dir, own, l.GitDir)
	}
	g.common = common
	g, shared, err := g.guarded(ctx, own, common)
	if err != nil {
		return nil, err
	}
	bare, err := g.line(ctx, "--git-dir="+common, "config", "--type=bool", "--default=false", "core.bare")
	if err != nil {
		return nil, err
	}
	from := g.with("GIT_DIR="+own, "GIT_COMMON_DIR="+common)
	r := &repo{from: from, dir: l.Dir, common: common, shared: shared}
	if bare == "true" {
		if own == common {
			r.dir = "" // it is in no working tree
		}
		r.git, r.main = g.set("safe.bareRepository=all").at(common), common
		return r, nil
	}
	if l.Bare {
		return nil, invalid("%s is not the main working tree of a repository", dir)
	}
	// For a repository whose git directory is elsewhere (a submodule, or
	// --separate-git-dir) git lists that directory as the main working tree.
	main := filepath.Dir(common)
	if own == common && top != "" {
		main = top
	}
	if r.main, err = filepath.EvalSymlinks(main); err != nil {
		return nil, err
	}
	r.git = g.at(r.main)
	if own != common || r.main != l.Top {
		top, err = r.git.line(ctx, "rev-parse", "--show-toplevel")
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || top != r.main {
		return nil, invalid("cannot tell where the main working tree of %s is; run this in it", common)
	}
	return r, nil
}

// name returns what directories that belong to the repository are named after, and
// the directory that they are in.
func (r *repo) name() (dir, name string) {
	at := r.main
	if at != r.common {
		return filepath.Dir(at), filepath.Base(at)
	}
	if strings.HasPrefix(filepath.Base(at), ".") {
		at = filepath.Dir(at) // project/.bare
	}
	return filepath.Dir(at), strings.TrimSuffix(filepath.Base(at), ".git")
}

// notRepository tells a directory outside of any repository from a repository
// that git refuses to use.
func notRepository(dir string, err error) error {
	failed, ok := errors.AsType[*gitError](err)
	if !ok {
		return err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return invalid("cannot use the git repository %s: %w", at, failed)
		}
		if at == filepath.Dir(at) {
			return errNotRepository
		}
	}
}

type listed struct {
	path, head, branch string
	locked             *string
}

// worktrees lists the working trees, the main one first.
func (r *repo) worktrees(ctx context.Context) ([]listed, error) {
	fields, err := r.git.list(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var trees []listed
	for _, f := range fields {
		key, value, _ := strings.Cut(f, " ")
		if key == "worktree" {
			trees = append(trees, listed{path: value})
			continue
		}
		if len(trees) == 0 {
			return nil, errors.New("cannot read the list of worktrees")
		}
		t := &trees[len(trees)-1]
		switch key {
		case "HEAD":
			t.head = value
		case "branch":
			t.branch = strings.TrimPrefix(value, "refs/heads/")
		case "locked":
			t.locked = &value
		}
	}
	if len(trees) == 0 {
		return nil, errors.New("git lists no worktrees")
	}
	return trees, nil
}

// checkedOutAt returns the working tree in which a branch is checked out, but for those in except, or
// an empty text.
func (r *repo) checkedOutAt(ctx context.Context, branch string, except ...string) (string, error) {
	trees, err := r.worktrees(ctx)
	for _, t := range trees {
		if t.branch == branch && !slices.Contains(except, t.path) {
			return t.path, nil
		}
	}
	return "", err
}
