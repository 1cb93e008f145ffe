package cgroup

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// files are the file systems with groups and what the kernel says of them. Tests have a
// tree of their own.
type files interface {
	read(path string) (string, error)
	// write writes to a file that exists, in one call, as these file systems want it.
	write(path, text string) error
	mkdir(path string) error
	rmdir(path string) error
	list(path string) ([]string, error)
	exists(path string) bool
	// writable reports whether this process may write to a file, or make files in a
	// directory.
	writable(path string) bool
	// isGroup reports whether a directory is a group.
	isGroup(path string) bool
}

// system is the file system of this machine.
type system struct{}

func (system) read(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}

func (system) write(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (system) mkdir(path string) error { return os.Mkdir(path, 0o755) }

func (system) rmdir(path string) error {
	return os.NewSyscallError("rmdir "+path, unix.Rmdir(path))
}

func (system) list(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (system) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (system) writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func (system) isGroup(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir() && isGroupDir(path) && filepath.Clean(path) == path
}
