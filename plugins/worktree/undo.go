package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

type undo struct{ steps []func(context.Context) error }

func (u *undo) add(step func(context.Context) error) { u.steps = append(u.steps, step) }

// undoLimit bounds the undoing of what failed, which goes on after the caller gave up.
const undoLimit = 30 * time.Second

// after takes everything back, newest first, if the call fails with err.
func (u *undo) after(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	errs := []error{err}
	for _, step := range slices.Backward(u.steps) {
		errs = append(errs, step(ctx))
	}
	return errors.Join(errs...)
}

// mkdirAll makes a directory and those above it that are missing, and returns how
// many it made. When it is taken back, only those go that are still empty.
func (u *undo) mkdirAll(dir string, mode fs.FileMode) (made int, err error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		err := os.Mkdir(at, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return made, err
		}
		made++
		u.add(func(context.Context) error {
			// It is not empty: someone else uses it by now.
			_ = os.Remove(at)
			return nil
		})
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "mkdir", Path: dir, Err: os.ErrExist}
	}
	return made, err
}

// takeBack removes the branch and the directories that Create made beside a worktree that
// is gone, if they have not changed since.
func (t *tree) takeBack(ctx context.Context) error {
	for dir := filepath.Dir(t.ref.Path); t.admin.above > 0; t.admin.above-- {
		if unix.Rmdir(dir) != nil {
			break // it is not empty
		}
		dir = filepath.Dir(dir)
	}
	return t.repo.dropBranch(ctx, t.ref)
}

// dropBranch deletes the branch of a worktree that is gone, if the branch was made
// for that worktree's worker and nothing has happened to it since then. It is the
// only place where a branch is deleted that Create returned.
func (r *repo) dropBranch(ctx context.Context, ref swarm.WorkspaceRef) error {
	if ref.Branch == "" || ref.ID == "" {
		return nil
	}
	name := "refs/heads/" + ref.Branch
	exists, err := r.git.ask(ctx, "show-ref", "--verify", "--quiet", name)
	if err != nil || !exists {
		return err
	}
	if at, err := r.checkedOutAt(ctx, ref.Branch); err != nil || at != "" {
		return err
	}
	// Git writes every change of a branch into its log once there is one. A single entry is
	// its creation.
	log, err := r.git.list(ctx, "log", "--walk-reflogs", "-z", "--format=%H %gs", name, "--")
	if err != nil || len(log) != 1 {
		return err
	}
	start, what, _ := strings.Cut(log[0], " ")
	if what != madeFor(ref.ID) {
		return nil
	}
	if err := r.deleteRef(ctx, name, start); err != nil {
		return err
	}
	return r.forgetBranch(ctx, ref.Branch)
}

// madeFor is the log entry of a branch that was created for a worker.
func madeFor(id string) string { return "branch: created by swarm for " + id }

// zeros is what git calls a ref that does not exist, for the hash in use.
func zeros(hash string) string { return strings.Repeat("0", len(hash)) }
