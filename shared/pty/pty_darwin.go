package pty

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	getSettings = unix.TIOCGETA
	setSettings = unix.TIOCSETA
	// countInput is FIONREAD of <sys/filio.h>.
	countInput = 0x4004667f
	// disabled is the value of a key that is switched off.
	disabled = 0xff
	// flushRead is FREAD of <sys/fcntl.h>.
	flushRead = 1
)

// signalKeys and lineKeys are those that act with ISIG, and in line mode.
var (
	signalKeys = []int{unix.VINTR, unix.VQUIT, unix.VSUSP, unix.VDSUSP, unix.VSTATUS}
	lineKeys   = []int{unix.VERASE, unix.VKILL, unix.VEOF, unix.VEOL}
	// moreKeys are those that act in line mode with IEXTEN.
	moreKeys = []int{unix.VEOL2, unix.VWERASE, unix.VREPRINT, unix.VLNEXT, unix.VDISCARD}
)

func open() (master, inner *os.File, err error) {
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("open /dev/ptmx", err)
	}
	fail := func(err error) (*os.File, *os.File, error) {
		_ = unix.Close(m)
		return nil, nil, os.NewSyscallError("open terminal", err)
	}
	if err := unix.IoctlSetInt(m, unix.TIOCPTYGRANT, 0); err != nil {
		return fail(err)
	}
	if err := unix.IoctlSetInt(m, unix.TIOCPTYUNLK, 0); err != nil {
		return fail(err)
	}
	name, err := nameOf(m)
	if err != nil {
		return fail(err)
	}
	s, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	return os.NewFile(uintptr(m), "terminal"), os.NewFile(uintptr(s), "terminal"), nil
}

func nameOf(master int) (string, error) {
	var name [128]byte
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name)))
	if errno != 0 {
		return "", errno
	}
	return unix.ByteSliceToString(name[:]), nil
}

func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, flushRead) }
