package proc

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Verified says that a signal can't reach another process than the intended one. Here the
// identity is checked right before the signal, but nothing holds the process.
const Verified = false

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// noTerminal is NODEV of sys/param.h.
const noTerminal = -1

// BootTime returns when the current boot began.
func BootTime() (time.Time, error) {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, os.NewSyscallError("sysctl", err)
	}
	return time.Unix(t.Sec, int64(t.Usec)*1000), nil
}

// startTime returns the moment of a start time, which is in microseconds since 1970.
func startTime(start uint64) time.Time { return time.UnixMicro(int64(start)) }

// BootID returns the id of the current boot.
var BootID = sync.OnceValues(func() (string, error) { return unix.Sysctl("kern.bootsessionuuid") })

// Read returns the process that has this pid now. The error is [ErrGone] if
// there is none.
func Read(pid int) (Process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
		// x/sys answers EIO when the kernel has no such process.
		return Process{}, ErrGone
	}
	if err != nil {
		return Process{}, os.NewSyscallError("sysctl", err)
	}
	return ofKinfo(k), nil
}

func ofKinfo(k *unix.KinfoProc) Process {
	var p Process
	p.PID = int(k.Proc.P_pid)
	start := k.Proc.P_starttime
	p.Start = uint64(start.Sec)*1e6 + uint64(start.Usec)
	p.Boot, _ = BootID()
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	p.Name = string(name)
	p.Parent, p.Group = int(k.Eproc.Ppid), int(k.Eproc.Pgid)
	p.Session, _ = unix.Getsid(p.PID)
	if p.Terminal = k.Eproc.Tdev != noTerminal; p.Terminal {
		p.Foreground = max(0, int(k.Eproc.Tpgid))
	}
	p.State = '?'
	if k.Proc.P_stat == zombie {
		p.State, p.Ended = 'Z', true
	}
	return p
}

func signal(id Identity, sig syscall.Signal) error {
	if err := id.check(); err != nil {
		return err
	}
	err := unix.Kill(id.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}

func all() ([]int, error) {
	ks, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, os.NewSyscallError("sysctl", err)
	}
	pids := make([]int, 0, len(ks))
	for i := range ks {
		pids = append(pids, int(ks[i].Proc.P_pid))
	}
	return pids, nil
}

func lister() (func(Process) ([]int, error), error) { return familyOf() }

// ForkThreads is nil: here the kernel does not say which thread forked.
func ForkThreads(int) []int { return nil }

func own(self int, _ []int, list func(Process) ([]int, error)) ([]int, error) {
	return list(Process{Identity: Identity{PID: self}})
}

// Threads returns pid: this system knows no numbers of threads to set priorities by.
func Threads(pid int) []int { return []int{pid} }
