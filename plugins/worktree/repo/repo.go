// Package repo is a repository as its worktrees share it: its place on the disk, its lock, its
// references, and what git keeps in it for each worktree.
//
// It is imported by the packages of plugins/worktree alone.
package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/swarm"
)

var errNotRepository = Invalid("not in a git repository (required for --worktree)")

// Invalid returns an error that is [swarm.ErrInvalidSpec].
func Invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidSpec}, args...)...)
}

type Repo struct {
	// Git runs in Main, from in the working tree that was asked about.
	Git, from git.Git
	// Main is the main working tree, Common the directory that all working
	// trees share. Both are absolute and free of symbolic links. They are the
	// same for a bare repository, which has no main working tree.
	Main, Common string
	// Dir is the directory that was asked about, relative to the top of its working
	// tree; empty: the top.
	Dir string
	// Shared says that others can write it, so that its filters do not run.
	Shared bool
}

// Open finds the repository that dir is in: in its main working tree, in a
// linked one, or anywhere below. With base, dir is what a ref names as its base,
// which may be a bare repository itself.
func Open(ctx context.Context, g git.Git, dir string, base bool) (*Repo, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, Invalid("no directory %s", dir)
	} else if !info.IsDir() {
		return nil, Invalid("%s is not a directory", dir)
	}
	l, err := gitdir.Discover(dir)
	if errors.Is(err, gitdir.ErrNotFound) {
		return nil, errNotRepository
	}
	if err != nil {
		return nil, Invalid("cannot use the git repository of %s: %w", dir, err)
	}
	if l.Bare && (!base || l.Top != dir) {
		// A clone of a repository brings such directories with it, and their configuration
		// too. It can't bring a .git, which would name the directory as the repository of the
		// outer one.
		above, err := gitdir.Discover(filepath.Dir(l.Top))
		if itself := err == nil && above.Common == l.Common; !itself && !errors.Is(err, gitdir.ErrNotFound) {
			return nil, Invalid("repository %s is bare and lies in another one, %s: it may have come with that, so it is not used; call this in a worktree of it",
				l.Top, cmp.Or(above.Top, filepath.Dir(l.Top)))
		}
	}
	if l.Bare {
		g = g.Set("safe.bareRepository=all")
	}
	g = g.At(dir)
	if l.Dir == "" {
		g = g.At(l.Top) // dir may be in .git
	}
	// Here git itself decides whether it is safe to use the repository.
	found, err := g.Paths(ctx, "--git-common-dir", "--absolute-git-dir", "--show-toplevel")
	if _, ok := errors.AsType[*git.Error](err); ok {
		// It may be a bare one, which has no top.
		found, err = g.Paths(ctx, "--git-common-dir", "--absolute-git-dir")
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
		return nil, Invalid("cannot find out which repository %s is in: %s or %s", dir, own, l.GitDir)
	}
	g.Common = common
	g, shared, err := g.Guarded(ctx, own, common)
	if err != nil {
		return nil, err
	}
	bare, err := g.Line(ctx, "--git-dir="+common, "config", "--type=bool", "--default=false", "core.bare")
	if err != nil {
		return nil, err
	}
	from := g.With("GIT_DIR="+own, "GIT_COMMON_DIR="+common)
	r := &Repo{from: from, Dir: l.Dir, Common: common, Shared: shared}
	if bare == "true" {
		if own == common {
			r.Dir = "" // it is in no working tree
		}
		r.Git, r.Main = g.Set("safe.bareRepository=all").At(common), common
		return r, nil
	}
	if l.Bare {
		return nil, Invalid("%s is not the main working tree of a repository", dir)
	}
	// For a repository whose git directory is elsewhere (a submodule, or
	// --separate-git-dir) git lists that directory as the main working tree.
	main := filepath.Dir(common)
	if own == common && top != "" {
		main = top
	}
	if r.Main, err = filepath.EvalSymlinks(main); err != nil {
		return nil, err
	}
	r.Git = g.At(r.Main)
	if own != common || r.Main != l.Top {
		top, err = r.Git.Line(ctx, "rev-parse", "--show-toplevel")
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || top != r.Main {
		return nil, Invalid("cannot find the main working tree of %s; run this in it", common)
	}
	return r, nil
}

// name returns what directories that belong to the repository are named after, and
// the directory that they are in.
func (r *Repo) name() (dir, name string) {
	at := r.Main
	if at != r.Common {
		return filepath.Dir(at), filepath.Base(at)
	}
	if strings.HasPrefix(filepath.Base(at), ".") {
		at = filepath.Dir(at) // project/.bare
	}
	return filepath.Dir(at), strings.TrimSuffix(filepath.Base(at), ".git")
}

// notRepository distinguishes a directory outside of any repository from a repository
// that git refuses to use.
func notRepository(dir string, err error) error {
	failed, ok := errors.AsType[*git.Error](err)
	if !ok {
		return err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return Invalid("cannot use the git repository %s: %w", at, failed)
		}
		if at == filepath.Dir(at) {
			return errNotRepository
		}
	}
}

// WorkingTree is a working tree as git lists it.
type WorkingTree struct {
	Path, head, Branch string
	Locked             *string
}

// Worktrees lists the working trees, the main one first.
func (r *Repo) Worktrees(ctx context.Context) ([]WorkingTree, error) {
	fields, err := r.Git.List(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var trees []WorkingTree
	for _, f := range fields {
		key, value, _ := strings.Cut(f, " ")
		if key == "worktree" {
			trees = append(trees, WorkingTree{Path: value})
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
			t.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "locked":
			t.Locked = &value
		}
	}
	if len(trees) == 0 {
		return nil, errors.New("git lists no worktrees")
	}
	return trees, nil
}

// CheckedOutAt returns the working tree in which a branch is checked out, but for those in except, or
// an empty text.
func (r *Repo) CheckedOutAt(ctx context.Context, branch string, except ...string) (string, error) {
	trees, err := r.Worktrees(ctx)
	for _, t := range trees {
		if t.Branch == branch && !slices.Contains(except, t.Path) {
			return t.Path, nil
		}
	}
	return "", err
}

// Changes lists the files that differ between two commits or trees; an empty one has no
// files.
func (r *Repo) Changes(ctx context.Context, from, to string) ([]swarm.FileChange, error) {
	if from == "" {
		var err error
		if from, err = r.EmptyTree(ctx); err != nil {
			return nil, err
		}
	}
	return r.Git.Changes(ctx, "diff-tree", "-r", from, to)
}

// EmptyTree returns the hash of a tree without files.
func (r *Repo) EmptyTree(ctx context.Context) (string, error) {
	if err := r.PlainObjects(); err != nil {
		return "", err
	}
	return r.Git.Line(ctx, "mktree")
}
