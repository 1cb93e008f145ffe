package buildtest

import (
	"io/fs"
	"os"
	"syscall"
)

// Write writes a script or program that a test then runs, as [os.WriteFile] does. No other
// test of the process starts a program meanwhile: that one would have the file open for
// writing until it runs, and a file that is open for writing can't be run.
func Write(path string, content []byte, perm fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, perm)
}
