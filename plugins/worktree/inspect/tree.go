// Package inspect finds the worktree of a worker and what in it exists nowhere else: that keeps the
// worktree, or is saved before the worktree goes. The list of checks
// names all that can keep one.
//
// It is imported by the packages of plugins/worktree alone.
package inspect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/plugins/worktree/repo"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Tree is a worktree. Find fills in the first part, and the checks of Worktree the second.
type Tree struct {
	Repo  *repo.Repo
	Ref   swarm.WorkspaceRef
	Admin repo.Admin
	// Git runs in the worktree, on exactly this administrative directory.
	Git git.Git
	// Missing says that the directory is gone. Admin is empty then if git
	// does not know the worktree any more either.
	Missing bool
	// shared is Shared of the repository, or of the worktree alone.
	shared bool
	// vacant says to ignore the processes that live in it.
	vacant bool
	// submoduleLimit is how long the examination of the submodules may take.
	submoduleLimit time.Duration
	// Locked is the reason why the user locked it.
	Locked *string
	// Head is the commit that is checked out, empty before the first one; Branch
	// is empty if HEAD is detached.
	Head, Branch string

	snapshot   snapshot
	Index      []git.Entry
	Submodules bool     // git refuses to remove it without --force
	own        []string // the .git of populated submodules
	Dirty      bool     // something is not committed
	Untracked  []string
	Ignored    []string // files, outside of ignored directories
	// ignoredDirs are those directories, and Special what git has no name for outside of
	// them: FIFOs and empty directories, which are saved if anything else is.
	ignoredDirs, Special []string
	// hidden counts the untracked files that git does not list.
	hidden int
}

// Find returns the worktree that ref names, or the reason why the directory is not that
// worktree.
func Find(ctx context.Context, r *repo.Repo, ref swarm.WorkspaceRef) (*Tree, *swarm.Kept, error) {
	t := &Tree{Repo: r, Ref: ref}
	all, err := repo.Admins(r.Common)
	if err != nil {
		return nil, nil, err
	}
	var moved string
	for _, a := range all {
		switch {
		case a.Worktree == ref.Path:
			t.Admin = a
		case a.ID == ref.ID:
			moved = a.Worktree
		}
	}
	info, err := os.Lstat(ref.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(moved); moved != "" && err == nil {
			return nil, keep("it was moved to %s", moved), nil
		}
		if t.Admin.ID != ref.ID {
			t.Admin = repo.Admin{}
		}
		if t.Admin.Dir != "" {
			if at := r.MovedByHand(t.Admin); at != "" {
				return nil, keep("it was moved by hand to %s, where 'git worktree repair' makes it known to git again", at), nil
			}
		}
		t.Missing = true
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, keep("%s is not a directory any more", ref.Path), nil
	case t.Admin.Dir == "":
		return nil, keep("%s is not a worktree of %s any more", ref.Path, r.Main), nil
	case ref.ID == "" || t.Admin.ID != ref.ID:
		return nil, keep("the worktree at %s was not made for this worker", ref.Path), nil
	default:
		if kept, err := t.pointsBack(); kept != nil || err != nil {
			return nil, kept, err
		}
		// Before anything else is read, so that the last look sees every change
		// since then.
		if t.snapshot, err = take(t); err != nil {
			return nil, nil, err
		}
	}
	if t.Admin.Dir == "" {
		return t, nil, nil
	}
	if err := t.Admin.Plain(); err != nil {
		return nil, nil, err
	}
	return t, nil, t.open(ctx)
}

// pointsBack checks that the directory belongs to the administrative directory
// that says so.
func (t *Tree) pointsBack() (*swarm.Kept, error) {
	real, err := filepath.EvalSymlinks(t.Ref.Path)
	if err != nil {
		return nil, err
	}
	if real != t.Ref.Path {
		return keep("%s is reached through a symbolic link now", t.Ref.Path), nil
	}
	dotGit := filepath.Join(t.Ref.Path, ".git")
	info, err := os.Lstat(dotGit)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return keep("%s is another repository now", t.Ref.Path), nil
	}
	dir, err := gitdir.Named(dotGit, t.Ref.Path)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return keep("%s is damaged", dotGit), nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if dir != t.Admin.Dir {
		return keep("%s belongs to another repository now", t.Ref.Path), nil
	}
	return nil, nil
}

// open makes the git of a worktree that was examined, and asks for its head.
func (t *Tree) open(ctx context.Context) error {
	t.Git = t.Repo.Git.With("GIT_DIR="+t.Admin.Dir, "GIT_COMMON_DIR="+t.Repo.Common, "GIT_WORK_TREE="+t.Ref.Path)
	if !t.Missing {
		if err := t.Repo.Git.Owned(ctx, t.Ref.Path, t.Admin.Dir); err != nil {
			return err
		}
		// It may have a configuration of its own.
		var err error
		var shared bool
		if t.Git, shared, err = t.Git.At(t.Ref.Path).Guarded(ctx, t.Admin.Dir, t.Repo.Common); err != nil {
			return err
		}
		t.shared = shared || t.Repo.Shared
	}
	trees, err := t.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, l := range trees[1:] {
		if l.Path == t.Ref.Path {
			t.Locked, t.Branch = l.Locked, l.Branch
			head, err := t.Git.Line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
			if _, ok := errors.AsType[*git.Error](err); ok && t.Branch != "" {
				// Before its first commit; or a broken ref, which status reports.
				return nil
			}
			t.Head = head
			return err
		}
	}
	return errors.New("git does not list it")
}
