package keeper

import (
	"errors"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	// pipeSize is the most that a pipe holds here.
	pipeSize   = 64 << 10
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
	sendFlags  = unix.MSG_DONTWAIT
	// recheck is when to look at the tree without an event: orphans go to launchd,
	// so their end is none here.
	recheck = 200 * time.Millisecond
)

// settle makes the shim what it must be before it may start anything.
func settle() error {
	_, _ = unix.Setsid()
	return closeInherited()
}

// closeInherited closes what the program that started the shim let slip through:
// all that is open across an exec has no close-on-exec flag, and all that the Go
// runtime opened has.
func closeInherited() error {
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

// tree is what is below the shim, and who left it but not the main process's
// session or group.
func tree(_ []int, main rundir.Identity, skip func(proc.Process) (bool, error)) ([]proc.Process, error) {
	below, err := proc.Tree(os.Getpid(), skip)
	known := make(map[int]bool)
	for _, p := range below {
		known[p.PID] = true
	}
	strays, findErr := proc.Find(func(p proc.Process) bool {
		if known[p.PID] || p.Start < main.Start || p.Group != main.PID && p.Session != main.PID {
			return false
		}
		skipped, skipErr := skip(p)
		return !skipped && skipErr == nil
	})
	return append(below, strays...), errors.Join(err, findErr)
}

func pipe() (r, w *os.File, err error) {
	// os.Pipe sets close-on-exec under the lock that fork takes.
	return os.Pipe()
}

func socket() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	return own(fd)
}

func accept(fd int) (int, error) {
	fd, _, err := unix.Accept(fd)
	if err != nil {
		return -1, err
	}
	return own(fd)
}

// own makes a new descriptor the shim's alone. The worker has been started, or
// will be by this goroutine, so no fork comes between.
func own(fd int) (int, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func sameUser(fd int) bool {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	return err == nil && int(peer.Uid) == os.Geteuid()
}

// reserve takes room on the disk, so that a later write can't fail for want of it.
func reserve(f *os.File, size int64) error {
	_, err := f.WriteAt(make([]byte, size), 0)
	return err
}

// reopen opens the terminal of standard input once more.
func reopen() (*os.File, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open terminal", err)
	}
	return os.NewFile(uintptr(fd), "terminal"), nil
}

func openPTY() (master, inner *os.File, err error) {
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
	name, err := ptyName(m)
	if err != nil {
		return fail(err)
	}
	s, err := unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	return os.NewFile(uintptr(m), "terminal"), os.NewFile(uintptr(s), "terminal"), nil
}

func ptyName(master int) (string, error) {
	var name [128]byte
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name)))
	if errno != 0 {
		return "", errno
	}
	return unix.ByteSliceToString(name[:]), nil
}
