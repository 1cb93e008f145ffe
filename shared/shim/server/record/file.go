package record

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/safefile"
)

// File is the descriptor of a file that is written. Unlike one of package os it leaves no garbage
// when it is closed: a worker that writes much has many files.
type File int

// closed stands for a file that is closed.
const closed File = -1

func (f File) isOpen() bool { return f >= 0 }

// Close closes the file.
func (f File) Close() error {
	if !f.isOpen() {
		return nil
	}
	return unix.Close(int(f))
}

// WriteAt writes all of b, or returns an error.
func (f File) WriteAt(b []byte, at int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(int(f), b, at)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return unix.EIO
		}
		b, at = b[n:], at+int64(n)
	}
	return nil
}

// truncate makes the file that long, or leaves it as it is.
func (f File) truncate(size int64) {
	_ = safefile.Again(func() error { return unix.Ftruncate(int(f), size) })
}

// Sync waits until the disk has the content.
func (f File) Sync() error { return safefile.Again(func() error { return unix.Fsync(int(f)) }) }
