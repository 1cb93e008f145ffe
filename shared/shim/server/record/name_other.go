//go:build !linux

package record

import (
	"syscall"

	"github.com/swarmhost/swarm/shared/safefile"
)

// Name is the name of a file in the working directory.
type Name string

// NewName returns a name.
func NewName(name string) Name { return Name(name) }

// Rename renames a file, which may replace another one.
func Rename(from, to Name) error {
	return safefile.Again(func() error { return syscall.Rename(string(from), string(to)) })
}

// Create makes an empty file, see [safefile.Create].
func Create(name Name) (File, error) {
	fd, err := safefile.CreateDescriptor(string(name))
	if err != nil {
		return closed, err
	}
	return File(fd), nil
}
