package server

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	// pipeSize is the most that a pipe holds here.
	pipeSize = 64 << 10
	// outerTerminal is a path of the terminal of standard input.
	outerTerminal = "/dev/tty"
	// recheck is when to look at the tree without an event: orphans go to launchd, so
	// their end is not an event here.
	recheck = 200 * time.Millisecond
)

// settle prepares the process of the shim before it starts anything.
func settle() error {
	_, _ = unix.Setsid()
	return closeInherited()
}

// ownProgram is the path of this program.
func ownProgram() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// tree returns the processes below the shim, and those that left it but not the main
// process's session or group.
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

// reserve reserves space on the disk, so that a later write can't fail because the disk is
// full. The file may become that long.
func reserve(f *os.File, size int64) error {
	_, err := f.WriteAt(make([]byte, size), 0)
	return err
}

// addUsage adds what a reaped process has used, and the children that it waited for.
// Memory is in bytes here, and storage in operations, which say nothing of bytes.
func addUsage(u *rundir.Used, ru unix.Rusage) {
	u.CPUNS += ru.Utime.Nano() + ru.Stime.Nano()
	u.Peak = max(u.Peak, ru.Maxrss)
	u.Read, u.Written = -1, -1
}
