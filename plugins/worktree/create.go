package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Create implements [swarm.Workspace].
func (w *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (_ swarm.WorkspaceRef, err error) {
	r, err := w.source(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	unlock, err := r.lock(ctx, w.lockLimit)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()

	var done undo
	defer func() { err = done.after(ctx, err) }()
	branch := branchOf(spec)
	path, made, err := w.makeDir(ctx, r, spec, &done)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	at, err := r.startOf(ctx, spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if at.commit != "" {
		if err := r.makeBranch(ctx, spec.ID, branch, at, &done); err != nil {
			return swarm.WorkspaceRef{}, err
		}
	}
	if err := r.checkOut(ctx, spec.ID, path, branch, made, &done); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: path, Branch: branch, Base: r.main, Dir: r.dir}, nil
}

// source opens the repository of a new worktree.
func (w *Workspace) source(ctx context.Context, spec swarm.WorkspaceSpec) (*repo, error) {
	if spec.ID == "" || !swarm.ValidName(spec.Name) || !filepath.IsAbs(spec.Base) {
		return nil, invalid("a worktree needs an id, a name and an absolute base")
	}
	return openRepo(ctx, w.git, spec.Base, false)
}

// parentOf returns the directory for a new worktree.
func (r *repo) parentOf(spec swarm.WorkspaceSpec) string {
	beside, name := r.name()
	switch {
	case filepath.IsAbs(spec.Parent):
		return filepath.Clean(spec.Parent)
	case spec.Parent != "":
		return filepath.Join(beside, spec.Parent)
	default:
		return filepath.Join(beside, name+"-worktrees")
	}
}

// makeDir creates the parent of the new worktree. It returns the path of the worktree and
// how many directories above it were created.
func (w *Workspace) makeDir(ctx context.Context, r *repo, spec swarm.WorkspaceSpec, done *undo) (string, int, error) {
	parent := r.parentOf(spec)
	mode, err := r.parentMode()
	if err != nil {
		return "", 0, err
	}
	made, err := done.mkdirAll(parent, mode)
	if err != nil {
		return "", 0, noParent(err)
	}
	if err := r.trusted(parent); err != nil {
		return "", 0, untrusted(parent, err)
	}
	if parent, err = filepath.EvalSymlinks(parent); err != nil {
		return "", 0, err
	}
	path := filepath.Join(parent, spec.Name)
	if err := free(path); err != nil {
		return "", 0, err
	}
	if err := w.clearStale(ctx, r, path); err != nil {
		return "", 0, err
	}
	// Git would make it for all to read; it takes a directory that is empty.
	if _, err := done.mkdirAll(path, mode); err != nil {
		return "", 0, err
	}
	// The directory may have been made a moment ago for a neighbour that goes first.
	neighbours, err := admins(r.common)
	for _, a := range neighbours {
		if filepath.Dir(a.worktree) == parent {
			made = max(made, a.above)
		}
	}
	return path, made, err
}

func noParent(err error) error { return invalid("cannot make a directory for worktrees: %w", err) }

func untrusted(parent string, err error) error {
	return invalid("cannot make worktrees in %s: %w; make it writable for you alone, or use --worktree-dir", parent, err)
}

func free(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 {
			return err
		}
	}
	return invalid("%s already exists", path)
}

// clearStale makes git forget a worktree of an earlier worker at path whose directory is
// gone: git refuses to reuse the path otherwise.
func (w *Workspace) clearStale(ctx context.Context, r *repo, path string) error {
	return r.eachStale(path, func(old swarm.WorkspaceRef) (*swarm.Kept, error) {
		res, err := w.removeLocked(ctx, r, old, swarm.RemoveOptions{})
		return res.Kept, err
	})
}

// eachStale calls clear for the worktrees of earlier workers that git lists at path, and refuses
// those that can't be cleared.
func (r *repo) eachStale(path string, clear func(old swarm.WorkspaceRef) (*swarm.Kept, error)) error {
	all, err := admins(r.common)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.worktree != path {
			continue
		}
		if a.id == "" {
			return invalid("git still lists a worktree at %s, which is gone; see 'git worktree prune'", path)
		}
		kept, err := clear(swarm.WorkspaceRef{ID: a.id, Name: filepath.Base(path), Path: path, Base: r.main})
		if err != nil {
			return err
		}
		if kept != nil {
			return invalid("an earlier worktree at %s is in the way: %s", path, kept.Reason)
		}
	}
	return nil
}

func (r *repo) checkOut(ctx context.Context, id, path, branch string, above int, done *undo) error {
	// The mark comes before the files, so that an unfinished worktree is found by its id.
	inside, dir, err := r.addWorktree(ctx, done, path, branch)
	if err != nil {
		return err
	}
	a := admin{dir: dir, above: above}
	if err := a.mark(id); err != nil {
		return err
	}
	// Unlike reset, this locks no ref: a git that is ended in the very moment in which it
	// makes a lock file leaves it behind, and the branch could not be taken back.
	if _, err := inside.run(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", "HEAD"); err != nil {
		return err
	}
	return a.write(madeFile, "")
}

// addWorktree makes a worktree without files. It returns a git that runs there, and the
// administrative directory.
func (r *repo) addWorktree(ctx context.Context, done *undo, path, start string, flags ...string) (git, string, error) {
	done.add(func(ctx context.Context) error { return r.forget(ctx, path) })
	add := slices.Concat([]string{"worktree", "add", "--quiet", "--no-checkout"}, flags, []string{path, start})
	if err := r.git.whole(ctx, add...); err != nil {
		return git{}, "", refused(err, "cannot make worktree %s", path)
	}
	all, err := admins(r.common)
	if err != nil {
		return git{}, "", err
	}
	at := slices.IndexFunc(all, func(a admin) bool { return a.worktree == path })
	if at < 0 {
		return git{}, "", fmt.Errorf("git made no worktree %s", path)
	}
	return r.git.within(path, all[at].dir, r.common), all[at].dir, nil
}

// forget removes an unfinished worktree. Only git has written into it.
func (r *repo) forget(ctx context.Context, path string) error {
	trees, err := r.worktrees(ctx)
	if err != nil || !slices.ContainsFunc(trees[1:], func(t listed) bool { return t.path == path }) {
		return err
	}
	// Twice: git locks a worktree while it makes it.
	_, err = r.git.run(ctx, "worktree", "remove", "--force", "--force", path)
	return err
}
