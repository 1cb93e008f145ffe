package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/swarm"
)

type tree struct {
	repo  *repo
	ref   swarm.WorkspaceRef
	admin admin
	// git runs in the worktree, on exactly this administrative directory.
	git git
	// missing says that the directory is gone. The admin is empty then if git
	// does not know the worktree any more either.
	missing bool
	// shared has the meaning that it has in repo.
	shared bool
	// vacant says to ignore the processes that live in it.
	vacant bool
	// submoduleLimit is how long the examination of the submodules may take.
	submoduleLimit time.Duration
	locked         *string
	// head is the commit that is checked out, empty before the first one; branch
	// is empty if HEAD is detached.
	head, branch string

	snapshot   snapshot
	index      []indexEntry
	submodules bool     // git refuses to remove it without --force
	own        []string // the .git of populated submodules
	dirty      bool     // something is not committed
	untracked  []string
	ignored    []string // files, outside of ignored directories
	// ignoredDirs are those directories, and special what git has no name for outside of
	// them: FIFOs and empty directories, which are saved if anything else is.
	ignoredDirs, special []string
	// hidden counts the untracked files that git does not list.
	hidden int
}

// find returns the worktree that ref names, or the reason why the directory is not that
// worktree.
func (r *repo) find(ctx context.Context, ref swarm.WorkspaceRef) (*tree, *swarm.Kept, error) {
	t := &tree{repo: r, ref: ref}
	all, err := admins(r.common)
	if err != nil {
		return nil, nil, err
	}
	var moved string
	for _, a := range all {
		switch {
		case a.worktree == ref.Path:
			t.admin = a
		case a.id == ref.ID:
			moved = a.worktree
		}
	}
	info, err := os.Lstat(ref.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(moved); moved != "" && err == nil {
			return nil, keep("it was moved to %s", moved), nil
		}
		if t.admin.id != ref.ID {
			t.admin = admin{}
		}
		if t.admin.dir != "" {
			if at := r.movedByHand(t.admin); at != "" {
				return nil, keep("it was moved by hand to %s, where 'git worktree repair' makes it known to git again", at), nil
			}
		}
		t.missing = true
	case err != nil:
		return nil, nil, err
	case !info.IsDir():
		return nil, keep("%s is not a directory any more", ref.Path), nil
	case t.admin.dir == "":
		return nil, keep("%s is not a worktree of %s any more", ref.Path, r.main), nil
	case ref.ID == "" || t.admin.id != ref.ID:
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
	if t.admin.dir == "" {
		return t, nil, nil
	}
	if err := t.admin.plain(); err != nil {
		return nil, nil, err
	}
	return t, nil, t.open(ctx)
}

// pointsBack checks that the directory belongs to the administrative directory
// that says so.
func (t *tree) pointsBack() (*swarm.Kept, error) {
	real, err := filepath.EvalSymlinks(t.ref.Path)
	if err != nil {
		return nil, err
	}
	if real != t.ref.Path {
		return keep("%s is reached through a symbolic link now", t.ref.Path), nil
	}
	dotGit := filepath.Join(t.ref.Path, ".git")
	info, err := os.Lstat(dotGit)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return keep("%s is another repository now", t.ref.Path), nil
	}
	text, err := gitdir.ReadLine(dotGit)
	if err != nil {
		return nil, err
	}
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return keep("%s is damaged", dotGit), nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(t.ref.Path, dir)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if dir != t.admin.dir {
		return keep("%s belongs to another repository now", t.ref.Path), nil
	}
	return nil, nil
}

func (t *tree) open(ctx context.Context) error {
	t.git = t.repo.git.with("GIT_DIR="+t.admin.dir, "GIT_COMMON_DIR="+t.repo.common, "GIT_WORK_TREE="+t.ref.Path)
	if !t.missing {
		if err := t.repo.git.owned(ctx, t.ref.Path, t.admin.dir); err != nil {
			return err
		}
		// It may have a configuration of its own.
		var err error
		var shared bool
		if t.git, shared, err = t.git.at(t.ref.Path).guarded(ctx, t.admin.dir, t.repo.common); err != nil {
			return err
		}
		t.shared = shared || t.repo.shared
	}
	trees, err := t.repo.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, l := range trees[1:] {
		if l.path == t.ref.Path {
			t.locked, t.branch = l.locked, l.branch
			head, err := t.git.line(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
			if _, ok := errors.AsType[*gitError](err); ok && t.branch != "" {
				// Before its first commit; or a broken ref, which status reports.
				return nil
			}
			t.head = head
			return err
		}
	}
	return errors.New("git does not list it")
}
