package copy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

// largeCopy is how much is copied without being asked for, where files can't share their blocks.
const largeCopy = 4 << 30

// CheckCreate implements [swarm.WorkspaceChecker].
func (w *Workspace) CheckCreate(_ context.Context, c swarm.WorkspaceCheck) error {
	s, err := sourceOf(c.Spec)
	if err != nil {
		return err
	}
	top, err := present(s.parent)
	if err != nil {
		return err
	}
	const writeAndSearch = unix.W_OK | unix.X_OK
	if err := unix.Access(top, writeAndSearch); err != nil {
		return invalid("cannot make %s: %w", s.path, err)
	}
	if c.Removed != nil && c.Removed.Path == s.path {
		return nil
	}
	return s.free()
}

// free returns an error if something is at the path of the copy.
func (s source) free() error {
	_, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return invalid("%s already exists", s.path)
}

func (w *Workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (_ swarm.WorkspaceRef, err error) {
	s, err := sourceOf(spec)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	if err := errors.Join(ctx.Err(), s.free()); err != nil {
		return swarm.WorkspaceRef{}, err
	}
	dir := stateDir(s.path, spec.ID)
	above, undoAbove, err := makeParents(s, dir)
	defer func() {
		if err != nil {
			undoAbove()
		}
	}()
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	// It is the only copy of this id, and no other Create makes this directory. It stays empty until the copy is
	// complete: nothing has to be known of it to remove what an interrupted call left.
	if err := os.Mkdir(s.path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = s.free()
		}
		return swarm.WorkspaceRef{}, errors.Join(err, w.discard(dir))
	}
	m := &made{ID: spec.ID, Name: spec.Name, Path: s.path, Base: s.base, Above: above, Exclude: s.options.Exclude}
	if err := w.fill(ctx, s, m, dir); err != nil {
		_ = unix.Rmdir(s.path) // it holds nothing, unless another process has put something there
		return swarm.WorkspaceRef{}, errors.Join(err, w.discard(dir))
	}
	return m.ref(), nil
}

// abandon removes what an interrupted Create left.
func (w *Workspace) abandon(path, dir string) error {
	_ = unix.Rmdir(path) // it is empty, or not ours
	return w.discard(dir)
}

// makeParents makes the directories above a copy, and that of its state. undo removes those that are
// still empty.
func makeParents(s source, dir string) (above int, undo func(), err error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	undo = func() {
		for _, at := range slices.Backward(missing) {
			_ = unix.Rmdir(at) // it is in use by now
		}
	}
	for _, at := range missing {
		if isWithin(s.parent, at) {
			above++
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, undo, invalid("cannot make a directory for copies: %w", err)
	}
	return above, undo, nil
}

// fill copies the base, notes what was made, and gives the copy its path, at which an empty directory is.
func (w *Workspace) fill(ctx context.Context, s source, m *made, dir string) (err error) {
	from, err := os.OpenRoot(s.base)
	if err != nil {
		return err
	}
	defer from.Close()
	c := &copier{from: from, toPath: filepath.Join(dir, newDir), clone: w.clone}
	if err := os.Mkdir(c.toPath, 0o700); err != nil {
		return err
	}
	if c.to, err = os.OpenRoot(c.toPath); err != nil {
		return err
	}
	defer c.to.Close()
	look := walker{skip: s.options.excludes}
	entries, err := look.entries(ctx, from)
	if err != nil {
		return invalid("cannot read %s: %w; --workspace-option exclude=NAME leaves parts out", s.base, err)
	}
	if len(look.left) > 0 {
		w.log.Warn("sockets, pipes and devices are not copied", "files", look.left)
	}
	c.plain = s.options.Reflink == reflinkNever || !w.canClone(c, entries, dir)
	switch {
	case c.plain && s.options.Reflink == reflinkAlways:
		return invalid("the file system of %s can't share the blocks of %s (option reflink=always)", s.parent, s.base)
	case c.plain:
		if err := s.checkSize(entries); err != nil {
			return err
		}
	default:
		if err := os.Mkdir(filepath.Join(dir, originalsDir), 0o700); err != nil {
			return err
		}
		if c.originals, err = os.OpenRoot(filepath.Join(dir, originalsDir)); err != nil {
			return err
		}
		defer c.originals.Close()
	}
	if m.Entries, err = c.all(ctx, entries); err != nil {
		return err
	}
	top, err := statOf(c.to, ".")
	if err != nil {
		return err
	}
	m.Device, m.Inode, m.Time = top.Device, top.Inode, time.Now()
	if err := m.store(dir); err != nil {
		return err
	}
	// It takes the place of an empty directory alone, which os.Rename refuses. Its mode comes after this: a
	// directory that moves has to be writable.
	if err := unix.Rename(c.toPath, s.path); err != nil {
		return &os.LinkError{Op: "rename", Old: c.toPath, New: s.path, Err: err}
	}
	if err := c.settleTop(); err != nil {
		w.log.Warn("the copy does not have the owner, mode and times of its directory", "copy", s.path, "error", err)
	}
	return nil
}

// settleTop gives the copy itself the mode and the times of the base.
func (c *copier) settleTop() error {
	top, err := statOf(c.from, ".")
	if err != nil {
		return err
	}
	return c.settle(top)
}

// canClone tries whether a file of the base can share its blocks with one in the directory of the state.
func (w *Workspace) canClone(c *copier, entries []entry, dir string) bool {
	at := slices.IndexFunc(entries, func(e entry) bool { return e.Mode.IsRegular() && e.Size > 0 })
	if at < 0 {
		return false
	}
	from, err := openFile(c.from, entries[at].Path)
	if err != nil {
		return false
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, "try")
	if err != nil {
		return false
	}
	err = w.clone(to, from)
	return errors.Join(err, to.Close(), os.Remove(to.Name())) == nil
}

// checkSize refuses a plain copy that does not fit, or that is larger than most users want.
func (s source) checkSize(entries []entry) error {
	var size int64
	for _, e := range entries {
		if e.Mode.IsRegular() {
			size += e.Size
		}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(s.path, &st); err == nil {
		if free := int64(st.Bavail) * int64(st.Bsize); size > free { //nolint:unconvert // Bsize has another type on darwin
			return invalid("a copy of %s takes %s, and %s are free in %s; --workspace-option exclude=NAME leaves parts out",
				s.base, humane.Bytes(size), humane.Bytes(free), s.parent)
		}
	}
	if size > largeCopy && !s.options.Large {
		return invalid("a copy of %s takes %s in %d files, since this file system can't share blocks; leave parts out with "+
			"--workspace-option exclude=NAME, or allow it with --workspace-option large=true", s.base, humane.Bytes(size), len(entries))
	}
	return nil
}

// discard removes the state of a copy that does not exist, with what an interrupted call left in it.
func (w *Workspace) discard(dir string) error {
	err := removeTree(dir)
	_ = unix.Rmdir(filepath.Dir(dir)) // it may hold others
	return err
}
