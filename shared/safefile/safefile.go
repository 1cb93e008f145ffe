// Package safefile opens files that others can write: run directories, which
// their workers can write, project files and git directories. A FIFO, a device, a
// link or a file of any size may lie where a regular file is expected, and none of
// them may stop the caller.
//
// It links neither fmt nor encoding/json, so that the shim can use it.
package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/trust"
)

// ErrUnsafe is part of every error about an unsafe file: one that is not regular, too
// large, or owned by another user.
var ErrUnsafe = errors.New("unsafe file")

// Error holds the reason why a file was not read. It is an [ErrUnsafe].
type Error struct {
	Path   string
	Reason string
}

func (e *Error) Error() string { return e.Path + " " + e.Reason }

// Is reports whether target is [ErrUnsafe].
func (e *Error) Is(target error) bool { return target == ErrUnsafe }

// Open opens a regular file of the effective user or root for reading. It never
// waits and never follows a symbolic link in the last part of the path. A file of
// more than limit bytes is refused; 0 means any size. The file can still grow
// afterwards: a reader limits what it reads, as [Read] does.
func Open(path string, limit int64) (*os.File, error) { return open(path, limit, true) }

// OpenForeign is [Open] for a file that may belong to any user, such as one of a
// project.
func OpenForeign(path string, limit int64) (*os.File, error) { return open(path, limit, false) }

// Read returns the contents of a file that [Open] opens. limit must be positive.
func Read(path string, limit int64) ([]byte, error) { return read(path, limit, true) }

// ReadForeign returns the contents of a file that [OpenForeign] opens. limit must
// be positive.
func ReadForeign(path string, limit int64) ([]byte, error) { return read(path, limit, false) }

// OpenDir opens a directory, to read its entries. It never waits: [os.Open] does if a
// FIFO lies there.
func OpenDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// ReadDir is [os.ReadDir] for a directory that [OpenDir] opens.
func ReadDir(path string) ([]fs.DirEntry, error) {
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func open(path string, limit int64, own bool) (*os.File, error) {
	// Without O_NONBLOCK, opening a FIFO waits for a writer.
	return opened(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, limit, own)
}

func opened(path string, flags int, limit int64, own bool) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		return nil, &Error{Path: path, Reason: "is a symbolic link"}
	}
	if errors.Is(err, syscall.ENXIO) {
		return nil, &Error{Path: path, Reason: "is not a regular file"}
	}
	if err != nil {
		return nil, err
	}
	if err := check(f, path, limit, own); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// check examines the open descriptor, so that nothing can be exchanged between
// the check and the use.
func check(f *os.File, path string, limit int64, own bool) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &Error{Path: path, Reason: "is " + kind(info.Mode()) + ", not a regular file"}
	case own && !trust.Owned(info):
		return &Error{Path: path, Reason: "is owned by another user"}
	case limit > 0 && info.Size() > limit:
		return tooLarge(path, limit)
	}
	return nil
}

func read(path string, limit int64, own bool) ([]byte, error) {
	f, err := open(path, limit, own)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, tooLarge(path, limit)
	}
	return b, err
}

func tooLarge(path string, limit int64) error {
	return &Error{Path: path, Reason: "is larger than " + strconv.FormatInt(limit, 10) + " bytes"}
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
