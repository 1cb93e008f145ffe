package pty

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
	countInput  = unix.TIOCINQ
	// disabled is the value of a key that is switched off.
	disabled = 0
)

// signalKeys and lineKeys are those that act with ISIG, and in line mode.
var (
	signalKeys = []int{unix.VINTR, unix.VQUIT, unix.VSUSP}
	lineKeys   = []int{unix.VERASE, unix.VKILL, unix.VEOF, unix.VEOL}
	// moreKeys are those that act in line mode with IEXTEN.
	moreKeys = []int{unix.VEOL2, unix.VWERASE, unix.VREPRINT, unix.VLNEXT}
)

func open() (master, inner *os.File, err error) {
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("open /dev/ptmx", err)
	}
	if err := unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0); err != nil {
		_ = unix.Close(m)
		return nil, nil, os.NewSyscallError("unlockpt", err)
	}
	// By the descriptor, not by a path: /dev/pts may be another container's.
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	s, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m), unix.TIOCGPTPEER, flags)
	if errno != 0 {
		_ = unix.Close(m)
		return nil, nil, os.NewSyscallError("open terminal", errno)
	}
	return os.NewFile(uintptr(m), "terminal"), os.NewFile(s, "terminal"), nil
}

func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
