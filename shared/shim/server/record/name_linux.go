package record

import (
	"errors"
	"io/fs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safefile"
)

// Name is the name of a file in the working directory, as the kernel takes it: a worker that writes
// much has thousands of files, and names that are made for each call would be most of the garbage of
// a shim.
type Name []byte

// NewName returns a name.
func NewName(name string) Name { return append([]byte(name), 0) }

func (n Name) pointer() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(n))) }

// here is the working directory.
var here = unix.AT_FDCWD

// Rename renames a file, which may replace another one.
func Rename(from, to Name) error {
	return safefile.Again(func() error {
		_, _, errno := unix.Syscall6(unix.SYS_RENAMEAT2, uintptr(here), from.pointer(), uintptr(here), to.pointer(), 0, 0)
		return failed(errno)
	})
}

// attempts bounds how often another process may make the file while Create does.
const attempts = 10

// Create makes an empty file, as [github.com/swarmhost/swarm/shared/safefile.Create] does.
func Create(name Name) (File, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC | unix.O_LARGEFILE
	var last error
	for range attempts {
		err := safefile.Again(func() error {
			_, _, errno := unix.Syscall(unix.SYS_UNLINKAT, uintptr(here), name.pointer(), 0)
			return failed(errno)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return closed, err
		}
		fd := closed
		last = safefile.Again(func() error {
			r, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(here), name.pointer(), flags, 0o600, 0, 0)
			fd = File(r)
			return failed(errno)
		})
		if last == nil {
			return fd, nil
		}
		if !errors.Is(last, fs.ErrExist) {
			break
		}
	}
	return closed, last
}

// failed returns the error of a call.
func failed(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
