package copy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/errtext"
)

// entry is a directory, regular file or symbolic link of a tree.
type entry struct {
	// Path is relative to the top, with slashes.
	Path string
	Mode fs.FileMode
	Size int64
	// Time and Change are when its content and its inode were changed last, in nanoseconds.
	Time, Change  int64
	Device, Inode uint64
	// Links is how many names the file has.
	Links    uint64
	UID, GID int
	// Target is that of a symbolic link.
	Target string
	// Hash is the SHA-256 hash of the content of a regular file; empty: its original is kept.
	Hash string
}

// walker looks at the entries of a tree, each directory before what is in it.
type walker struct {
	// skip says what to leave out; nil: nothing.
	skip func(path string) bool
	// oneDevice refuses mount points.
	oneDevice bool
	// left are the paths of sockets, pipes and devices, which no copy has.
	left []string
}

var errMounted = errors.New("something is mounted there")

// entries returns all entries below root. It follows no symbolic link.
func (w *walker) entries(ctx context.Context, root *os.Root) (found []entry, err error) {
	top, err := statOf(root, ".")
	if err != nil {
		return nil, err
	}
	var visit func(dir string) error
	visit = func(dir string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := namesIn(root, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			at := path.Join(dir, name)
			if w.skip != nil && w.skip(at) {
				continue
			}
			e, err := statOf(root, at)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was removed just now
			}
			if err != nil {
				return err
			}
			switch {
			case e.Mode.IsDir():
				if w.oneDevice && e.Device != top.Device {
					return &fs.PathError{Op: "look at", Path: at, Err: errMounted}
				}
				found = append(found, e)
				if err := visit(at); err != nil {
					return err
				}
			case e.Mode.IsRegular():
				found = append(found, e)
			case e.Mode&fs.ModeSymlink != 0:
				if e.Target, err = root.Readlink(at); err != nil {
					return err
				}
				found = append(found, e)
			default:
				w.left = append(w.left, at)
			}
		}
		return nil
	}
	err = visit(".")
	return found, err
}

// namesIn returns the names in a directory of a tree, sorted.
func namesIn(root *os.Root, dir string) ([]string, error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, errors.Join(err, f.Close())
}

func statOf(root *os.Root, at string) (entry, error) {
	info, err := root.Lstat(at)
	if err != nil {
		return entry{}, err
	}
	e := entry{Path: at, Mode: info.Mode(), Size: info.Size(), Time: info.ModTime().UnixNano()}
	e.addInode(info)
	return e, nil
}

// copier copies the entries of a tree.
type copier struct {
	from, to *os.Root
	// toPath is the path of to.
	toPath string
	// originals is the directory for the originals of files that share their blocks; nil: there
	// are none.
	originals *os.Root
	clone     func(to, from *os.File) error
	// plain says that no file can share its blocks.
	plain bool
	// first are the copies of files with several names.
	first map[[2]uint64]string
}

// all copies the entries and returns them as they are in the copy.
func (c *copier) all(ctx context.Context, entries []entry) ([]entry, error) {
	c.first = map[[2]uint64]string{}
	copied := slices.Clone(entries)
	for i := range copied {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.one(ctx, &copied[i]); err != nil {
			return nil, fmt.Errorf("cannot copy %s: %w", filepath.Join(c.from.Name(), copied[i].Path), errtext.Cause(err))
		}
	}
	// A directory gets its mode and its times once nothing is made in it any more.
	for i, e := range slices.Backward(copied) {
		if e.Mode.IsDir() {
			if err := c.settle(e); err != nil {
				return nil, err
			}
		}
		now, err := statOf(c.to, e.Path)
		if err != nil {
			return nil, err
		}
		now.Target, now.Hash = e.Target, e.Hash
		copied[i] = now
	}
	// Links to a file changed it after it was looked at.
	for i, e := range copied {
		if e.Links > 1 && e.Mode.IsRegular() {
			now, err := statOf(c.to, e.Path)
			if err != nil {
				return nil, err
			}
			copied[i].Change = now.Change
		}
	}
	return copied, nil
}

func (c *copier) one(ctx context.Context, e *entry) error {
	switch {
	case e.Mode.IsDir():
		return c.to.Mkdir(e.Path, 0o700)
	case e.Mode&fs.ModeSymlink != 0:
		if err := c.to.Symlink(e.Target, e.Path); err != nil {
			return err
		}
		return c.settle(*e)
	}
	file := [2]uint64{e.Device, e.Inode}
	if first, known := c.first[file]; known && e.Links > 1 {
		if err := c.to.Link(first, e.Path); err != nil {
			return err
		}
		return c.hashOfFirst(ctx, e)
	}
	c.first[file] = e.Path
	return c.file(ctx, e)
}

// hashOfFirst completes an entry that is another name of a file.
func (c *copier) hashOfFirst(ctx context.Context, e *entry) error {
	f, err := c.to.Open(e.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	e.Hash, err = hashOf(ctx, f)
	return err
}

func (c *copier) file(ctx context.Context, e *entry) (err error) {
	from, err := openFile(c.from, e.Path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := c.to.OpenFile(e.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if c.plain || !c.shares(to, from, e.Path) {
		hash := sha256.New()
		if _, err := io.Copy(io.MultiWriter(to, hash), reader{ctx, from}); err != nil {
			return err
		}
		e.Hash = hex.EncodeToString(hash.Sum(nil))
	}
	copyAttributes(int(to.Fd()), int(from.Fd()))
	return c.settle(*e)
}

// shares has a file and its original share the blocks of another one, and reports whether it could.
func (c *copier) shares(to, from *os.File, at string) bool {
	if c.clone(to, from) != nil {
		return false
	}
	if c.originals == nil {
		return true
	}
	// The original is made of the copy: the base may be written just now.
	if err := c.originals.MkdirAll(path.Dir(at), 0o700); err == nil {
		if original, err := c.originals.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			if err := errors.Join(c.clone(original, to), original.Close()); err == nil {
				return true
			}
		}
	}
	return to.Truncate(0) != nil
}

// settle gives an entry of the copy its owner, mode and times.
func (c *copier) settle(e entry) error {
	if e.UID != os.Geteuid() || e.GID != os.Getegid() {
		// Only root can give a file away.
		if err := c.to.Lchown(e.Path, e.UID, e.GID); err != nil && os.Geteuid() == 0 {
			return err
		}
	}
	if e.Mode&fs.ModeSymlink == 0 {
		if err := c.to.Chmod(e.Path, e.Mode); err != nil {
			return err
		}
		when := time.Unix(0, e.Time)
		return c.to.Chtimes(e.Path, when, when)
	}
	when := unix.NsecToTimespec(e.Time)
	// No other process knows the directories above it yet.
	return unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(c.toPath, e.Path), []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

// copyAttributes copies the extended attributes of a file that belong to users. A file system may
// have none.
func copyAttributes(to, from int) {
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(from, names)
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if !strings.HasPrefix(name, "user.") {
			continue
		}
		value := make([]byte, 64<<10)
		if n, err := unix.Fgetxattr(from, name, value); err == nil {
			_ = unix.Fsetxattr(to, name, value[:n], 0) // the file system there may have none
		}
	}
}

// openFile opens a regular file of a tree for reading.
func openFile(root *os.Root, at string) (*os.File, error) {
	f, err := root.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file any more"), f.Close())
	}
	return f, nil
}

func hashOf(ctx context.Context, r io.Reader) (string, error) {
	hash := sha256.New()
	_, err := io.Copy(hash, reader{ctx, r})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// reader reads until its context ends.
type reader struct {
	ctx context.Context //nolint:containedctx // that of the call which reads
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// removeTree removes a directory with everything in it. It follows no link.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// The owner of a directory may have no right to change it.
	werr := filepath.WalkDir(dir, func(at string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(at, 0o700)
		}
		return nil
	})
	return errors.Join(werr, os.RemoveAll(dir))
}
