package launch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// use makes cmd, whose standard and extra files are set, run the program. done is
// called once it was started, whether that succeeded or not.
func (p *program) use(cmd *exec.Cmd, files []*os.File, dir string) (done func() error, err error) {
	if !p.binary() {
		// An interpreter opens the file by its path, and may look next to it.
		return func() error { return nil }, p.copied(cmd, dir)
	}
	// The new process has all descriptors of this one until its program begins, at
	// their numbers, but for those that are in the way of the files that it gets:
	// up to the highest of these, and a few that they are moved by.
	above := len(files)
	for _, f := range files {
		above = max(above, int(f.Fd()))
	}
	fd, err := unix.FcntlInt(p.file.Fd(), unix.F_DUPFD_CLOEXEC, above+2*len(files)+3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	// A link of the program's name, since the system names the process after it.
	link := filepath.Join(dir, filepath.Base(p.path))
	if err := os.Symlink("/proc/self/fd/"+strconv.Itoa(fd), link); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	cmd.Path = link
	return func() error {
		// A file can't be written while it is executed: if it is unchanged now, the hashed
		// program runs.
		return errors.Join(os.Remove(link), unix.Close(fd), p.unchanged())
	}, nil
}

// binary reports whether the program is one for the machine and not a script.
func (p *program) binary() bool {
	var magic [4]byte
	_, err := p.file.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "\x7fELF"
}
