package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// attempts bounds how often another process may put something in the place of a file
// that Create makes.
const attempts = 10

// Create makes an empty regular file of mode 0600 and opens it for writing. What was
// at path goes first and is never opened: it may be a FIFO that nobody reads, or a
// link. A directory there is an error.
func Create(path string) (*os.File, error) {
	var last error
	for range attempts {
		if err := syscall.Unlink(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &fs.PathError{Op: "replace", Path: path, Err: err}
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_CLOEXEC, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		last = err
	}
	return nil, last
}

// Append opens a regular file of the effective user or root for appending, and makes
// it with mode 0600 if there is none. Like [Open] it neither waits nor follows a link.
func Append(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	return opened(path, flags, 0, true)
}
