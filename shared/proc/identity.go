package proc

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone means that a process no longer exists: it has ended, or its pid now belongs to
// another process.
var ErrGone = errors.New("no such process")

// Identity names one process for all time: its pid may be used again, but not with the same
// start time since the same boot. The zero value names no process.
type Identity struct {
	PID int `json:"pid"`
	// Start is when it started, in the kernel's own unit.
	Start uint64 `json:"start"`
	// Boot is the id of the boot that Start counts from.
	Boot string `json:"boot"`
}

// Identify returns the identity of the process that has this pid now, or an
// error that is [ErrGone].
func Identify(pid int) (Identity, error) {
	p, err := Read(pid)
	if err != nil {
		return Identity{}, err
	}
	return p.Identity, nil
}

// Alive reports whether this very process exists and has not ended.
func (id Identity) Alive() bool {
	// A process counts as gone only if that is proven; too many open files, for example, prove
	// nothing.
	return id.ofThisBoot() && !errors.Is(id.check(), ErrGone)
}

// check returns nil if this very process has the pid now, and [ErrGone] if it has ended.
func (id Identity) check() error {
	p, err := Read(id.PID)
	if err == nil && (p.Start != id.Start || p.Ended) {
		return ErrGone
	}
	return err
}

// Signal sends sig to this very process. The error is [ErrGone] if it has ended, and
// syscall.EPERM if it belongs to another user; no process was signalled then. Signal 0
// only checks.
func (id Identity) Signal(sig syscall.Signal) error {
	if !id.ofThisBoot() || id.PID <= 0 {
		return ErrGone
	}
	return signal(id, sig)
}

// Time returns when the process was started, to the precision of the kernel's unit; zero if
// the kernel does not report it.
func (id Identity) Time() time.Time {
	if !id.ofThisBoot() {
		return time.Time{}
	}
	return startTime(id.Start)
}

// ofThisBoot also accepts an identity without a boot id, which comes from a system without
// one.
func (id Identity) ofThisBoot() bool {
	boot, err := BootID()
	return err != nil || id.Boot == "" || id.Boot == boot
}

// The numbers of the real-time signals of Linux, as programs that use the GNU C library have
// them. Their names are SIGRTMIN and SIGRTMIN+1 to SIGRTMIN+30.
const (
	firstRealTime = 34
	lastRealTime  = 64
	realTimeName  = "SIGRTMIN"
)

const hasRealTime = runtime.GOOS == "linux"

// SignalName returns the name of a signal, such as "SIGTERM" or "SIGRTMIN+3", and "SIG32" or
// the like for one that has none.
func SignalName(sig syscall.Signal) string {
	name := unix.SignalName(sig)
	switch {
	case name != "":
		return name
	case hasRealTime && sig == firstRealTime:
		return realTimeName
	case hasRealTime && sig > firstRealTime && sig <= lastRealTime:
		return realTimeName + "+" + strconv.Itoa(int(sig)-firstRealTime)
	}
	return "SIG" + strconv.Itoa(int(sig))
}

// SignalNumber returns the signal of a name that [SignalName] returns, 0 if this system has none.
func SignalNumber(name string) syscall.Signal {
	if sig := unix.SignalNum(name); sig != 0 || !hasRealTime {
		return sig
	}
	if name == realTimeName {
		return firstRealTime
	}
	base := firstRealTime
	digits, ok := strings.CutPrefix(name, realTimeName+"+")
	if !ok {
		base = 0
		digits = strings.TrimPrefix(name, "SIG")
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n <= 0 || base+n > lastRealTime || digits != strconv.Itoa(n) || digits == name {
		return 0
	}
	return syscall.Signal(base + n)
}

// ExitCode returns the exit code of a process as a shell reports it: its own, or 128 plus
// the number of the signal with that full name which ended it.
func ExitCode(code int, signal string) int {
	if signal == "" {
		return code
	}
	return 128 + int(SignalNumber(signal))
}
