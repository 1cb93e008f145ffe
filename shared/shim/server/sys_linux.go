package server

import (
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	// pipeSize is how much a worker may write while the shim is not scheduled.
	pipeSize = 1 << 20
	// outerTerminal is a path of the terminal of standard input.
	outerTerminal = "/proc/self/fd/0"
	// recheck is when to look at the tree without an event: every end in it is
	// one, so this is never needed.
	recheck = time.Hour
)

// settle prepares the process of the shim before it starts anything.
func settle() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	// A shim is usually started in a session of its own. If not, it is a group's leader
	// already, or this call makes it one.
	_, _ = unix.Setsid()
	if err := closeInherited(); err != nil {
		return err
	}
	unignore()
	return startClean()
}

// unignore resets the signals that C libraries use internally: the Go runtime leaves these
// alone, so a worker would inherit ignored ones.
func unignore() {
	// The kernel's struct sigaction; its zero value is SIG_DFL.
	var def [4]uint64
	for sig := uintptr(32); sig <= 34; sig++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&def)), 0, 8, 0, 0)
	}
}

func ownProgram() string { return "/proc/self/exe" }

func tree(threads []int, _ rundir.Identity, skip func(proc.Process) (bool, error)) ([]proc.Process, error) {
	return proc.Below(threads, skip)
}

// pipe returns a pipe whose reading end the runtime can poll and whose writing end is
// blocking, as a worker expects.
func pipe() (r, w *os.File, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	// Refused when the user has many pipes: then it stays smaller.
	_, _ = unix.FcntlInt(uintptr(p[0]), unix.F_SETPIPE_SZ, pipeSize)
	_ = unix.SetNonblock(p[0], true)
	return os.NewFile(uintptr(p[0]), "output"), os.NewFile(uintptr(p[1]), "output"), nil
}

// reserve reserves space on the disk, so that a later write can't fail because the disk is
// full. The file may become that long.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_, err = f.WriteAt(make([]byte, size), 0)
	}
	return err
}

// addUsage adds what a reaped process has used, and the children that it waited for. The
// kernel counts storage in blocks of 512 bytes and memory in KiB.
func addUsage(u *rundir.Used, ru unix.Rusage) {
	u.CPUNS += ru.Utime.Nano() + ru.Stime.Nano()
	u.Peak = max(u.Peak, ru.Maxrss<<10)
	u.Read += ru.Inblock * 512
	u.Written += ru.Oublock * 512
}
