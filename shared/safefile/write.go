package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// attempts bounds how often another process may replace the file while Create makes it.
const attempts = 10

// Create makes an empty regular file of mode 0600 and opens it for writing. A file that
// exists at path is removed first and never opened: it may be a FIFO without a reader, or a
// link. A directory there is an error.
func Create(path string) (*os.File, error) {
	fd, err := CreateDescriptor(path)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// CreateDescriptor is [Create] for a caller that uses the descriptor itself.
func CreateDescriptor(path string) (int, error) {
	var last error
	for range attempts {
		if err := Again(func() error { return syscall.Unlink(path) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return -1, &fs.PathError{Op: "replace", Path: path, Err: err}
		}
		fd := -1
		err := Again(func() (err error) {
			fd, err = syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
			return err
		})
		if err == nil {
			return fd, nil
		}
		if last = (&fs.PathError{Op: "open", Path: path, Err: err}); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return -1, last
}

// Again makes a call until no signal interrupts it.
func Again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// Replace makes data the content of the file at path, whole or not at all: a reader sees
// the content before or after, and a crash of the machine leaves one of both. The file has
// the mode mode. A file that exists at path is never opened; a directory there is an error.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return replace(path, data, mode, true)
}

// ReplaceCache is [Replace] with mode 0600 for a file that may be lost or empty after
// a crash of the machine: it does not wait for the disk.
func ReplaceCache(path string, data []byte) error { return replace(path, data, 0o600, false) }

func replace(path string, data []byte, mode fs.FileMode, durable bool) error {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+name+".*.tmp") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Sync waits until the disk has the content of the regular file at path, which [Open] opens.
func Sync(path string) error {
	f, err := Open(path, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncDir waits until the disk has the names in a directory. A file system that can't do
// that is not an error: it does not keep names apart from the files.
func SyncDir(path string) error {
	dir, err := OpenDir(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// The ways to lock a directory.
const (
	Exclusive = syscall.LOCK_EX
	Shared    = syscall.LOCK_SH
	// NoWait returns [syscall.EWOULDBLOCK] instead of waiting for a held lock.
	NoWait = syscall.LOCK_NB
)

// LockDir locks a directory itself, which leaves no file behind, until the file that
// it returns is closed or the process ends. how is Exclusive or Shared, with NoWait
// or without.
func LockDir(path string, how int) (*os.File, error) {
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	if err := Again(func() error { return syscall.Flock(int(dir.Fd()), how) }); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "flock", Path: path, Err: err}, dir.Close())
	}
	return dir, nil
}

// AwaitDir returns when no process holds the exclusive lock of a directory, or with the
// context's error. See [LockDir].
func AwaitDir(ctx context.Context, path string) error {
	got := make(chan error, 1)
	go func() {
		d, err := LockDir(path, Shared)
		if err == nil {
			// This releases the lock, even if nothing waits for it any more.
			err = d.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Append opens a regular file of the effective user or root for appending, and makes
// it with mode 0600 if there is none. Like [Open] it neither waits nor follows a link.
func Append(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	return opened(path, flags, 0, true)
}
