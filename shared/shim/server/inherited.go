package server

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes descriptors that the program that started the shim left open:
// inherited ones lack the close-on-exec flag, and those of the Go runtime have it.
func closeInherited() error {
	// Both Linux and darwin list this process's descriptors here.
	d, err := os.Open("/dev/fd")
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return err
}
