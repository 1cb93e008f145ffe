package copy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/occupant"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (w *Workspace) Inspect(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.WorkspaceState{}, err
	}
	t, err := open(ref, ref.Path)
	if err != nil {
		kept, err := doubt(ctx, err)
		return swarm.WorkspaceState{Kept: kept, Missing: kept == nil && err == nil}, err
	}
	defer t.close()
	kept, _, err := t.examine(ctx, ref.Path, o)
	return swarm.WorkspaceState{Kept: kept}, err
}

// doubt returns why a copy that can't be opened is kept; without a reason or an error it is gone.
func doubt(ctx context.Context, err error) (*swarm.Kept, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotOurs):
		return nil, nil
	}
	return &swarm.Kept{Reason: errtext.Cause(err).Error()}, nil
}

// examine says why the copy, which is at path now, would be kept, and what has changed in it.
func (t *tree) examine(ctx context.Context, path string, o swarm.RemoveOptions) (*swarm.Kept, []change, error) {
	if !o.Vacant {
		// A copy that could be moved is looked at by the path that its processes have.
		living, err := occupant.In(ctx, path)
		if err != nil {
			kept, err := doubt(ctx, fmt.Errorf("cannot see which processes run in it: %w", err))
			return kept, nil, err
		}
		if len(living) > 0 {
			return &swarm.Kept{Reason: fmt.Sprintf("process %d (%s) runs in it", living[0].PID, living[0].Name)}, nil, nil
		}
	}
	changes, err := t.changes(ctx)
	if err != nil {
		if ctx.Err() == nil {
			return &swarm.Kept{Reason: "cannot see what has changed in it: " + err.Error()}, nil, nil
		}
		return nil, nil, ctx.Err()
	}
	if len(changes) == 0 || o.Force {
		return nil, changes, nil
	}
	return &swarm.Kept{Reason: reason(changes), Forceable: true}, changes, nil
}

// reason names what has changed.
func reason(changes []change) string {
	files := slices.DeleteFunc(slices.Clone(changes), change.isDir)
	if len(files) == 0 {
		return fmt.Sprintf("copy has %d changed directory(s)", len(changes))
	}
	return fmt.Sprintf("copy has %d changed file(s)", len(files))
}

func (w *Workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (swarm.RemoveResult, error) {
	if err := checkHandle(ref); err != nil {
		return swarm.RemoveResult{}, err
	}
	o.Vacant = false
	dir := stateDir(ref.Path, ref.ID)
	unlock, err := lock(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Lstat(ref.Path)
		if err == nil {
			err = errNotOurs
		}
		kept, err := doubt(ctx, err)
		return swarm.RemoveResult{Kept: kept}, err
	}
	if err != nil {
		return swarm.RemoveResult{}, err
	}
	defer unlock()
	if err := w.resume(ref, dir); err != nil {
		return swarm.RemoveResult{}, err
	}
	t, err := open(ref, ref.Path)
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotOurs) {
		removed := exists(filepath.Join(dir, removedDir))
		return swarm.RemoveResult{Astray: !removed}, w.discard(dir)
	}
	if err != nil {
		kept, err := doubt(ctx, err)
		return swarm.RemoveResult{Kept: kept}, err
	}
	defer t.close()
	res, err := w.removeTree(ctx, t, o)
	if err == nil && res.Kept == nil && o.Undo {
		parent := filepath.Dir(ref.Path)
		for range t.Above {
			_ = unix.Rmdir(parent) // it may hold others
			parent = filepath.Dir(parent)
		}
	}
	return res, err
}

// resume gives a copy its name back whose last look was interrupted.
func (w *Workspace) resume(ref swarm.WorkspaceRef, dir string) error {
	checked := filepath.Join(dir, checkedDir)
	if !exists(checked) || exists(ref.Path) {
		return nil
	}
	return move(checked, ref.Path)
}

// move gives a copy another path. A directory that gets another parent has to be writable for its owner, which the
// base, or the worker, may have taken away.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, lerr := os.Lstat(from)
	if lerr != nil || !info.IsDir() || os.Chmod(from, 0o700) != nil {
		return err
	}
	at := to
	if err = os.Rename(from, to); err != nil {
		at = from
	}
	return errors.Join(err, os.Chmod(at, info.Mode()))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// removeTree saves what has changed in a copy and removes it.
func (w *Workspace) removeTree(ctx context.Context, t *tree, o swarm.RemoveOptions) (res swarm.RemoveResult, err error) {
	kept, changes, err := t.examine(ctx, t.Path, o)
	if kept != nil || err != nil {
		return swarm.RemoveResult{Kept: kept}, err
	}
	if len(changes) > 0 {
		saved, err := w.save(ctx, t, changes)
		if err != nil {
			if ctx.Err() != nil {
				return res, ctx.Err()
			}
			return swarm.RemoveResult{Kept: &swarm.Kept{Reason: "cannot save its changes: " + err.Error()}}, nil
		}
		res.Rescues = []swarm.Rescue{saved}
	}
	if w.beforeLook != nil {
		w.beforeLook()
	}
	again, err := t.lastLook(ctx, changes)
	if again != nil || err != nil {
		for _, r := range res.Rescues {
			err = errors.Join(err, drop(t.Base, r.Ref))
		}
		return swarm.RemoveResult{Kept: again}, err
	}
	if err := os.Rename(filepath.Join(t.dir, checkedDir), filepath.Join(t.dir, removedDir)); err != nil {
		return res, err
	}
	// It is removed for its caller; what can't be deleted has no work in it.
	if err := errors.Join(safefile.SyncDir(t.dir), w.discard(t.dir)); err != nil {
		w.log.Warn("the remains of a copy can't be deleted", "dir", t.dir, "error", err)
	}
	w.log.Debug("copy removed", "rescues", len(res.Rescues))
	return res, nil
}

// lastLook takes the copy away from its path and compares it with the changes that were saved. If it
// has changed meanwhile, it gets its path back.
func (t *tree) lastLook(ctx context.Context, saved []change) (*swarm.Kept, error) {
	checked := filepath.Join(t.dir, checkedDir)
	if err := move(t.Path, checked); err != nil {
		return nil, err
	}
	kept, now, err := t.examine(ctx, checked, swarm.RemoveOptions{Force: true})
	same := slices.EqualFunc(saved, now, func(a, b change) bool {
		return a.path == b.path && (a.after == nil) == (b.after == nil) && (a.after == nil || *a.after == *b.after)
	})
	if err == nil && kept == nil && same {
		return nil, nil
	}
	if err == nil && kept == nil {
		kept = &swarm.Kept{Reason: "it changed while it was looked at", Forceable: true}
	}
	return kept, errors.Join(err, move(checked, t.Path))
}
