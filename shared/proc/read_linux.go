package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Verified says that a signal can't reach another process than the intended one.
const Verified = true

// BootTime returns when the current boot began.
func BootTime() (time.Time, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return time.Time{}, os.NewSyscallError("clock_gettime", err)
	}
	return time.Now().Add(-time.Duration(t.Nano())), nil
}

// startTime returns the moment of a start time, which is in ticks since the boot.
func startTime(start uint64) time.Time {
	booted, err := BootTime()
	if err != nil {
		return time.Time{}
	}
	return booted.Add(ticks(int(start))).Round(ticks(1))
}

// BootID returns the id of the current boot.
var BootID = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
})

// Read returns the process that has this pid now. The error is [ErrGone] if
// there is none.
func Read(pid int) (Process, error) { return readDir("/proc/" + strconv.Itoa(pid)) }

// readDir reads the process of a directory of /proc.
func readDir(dir string) (Process, error) {
	var buf [1024]byte
	n, err := readSome(dir+"/stat", buf[:])
	if err != nil {
		return Process{}, gone(err)
	}
	p, ok := parseStat(buf[:n])
	if !ok {
		return Process{}, errors.New("cannot read " + dir + "/stat")
	}
	p.Boot, _ = BootID()
	if p.State == 'Z' {
		// A main thread may end before the others: then this looks like a zombie
		// and is alive.
		tasks, _ := os.ReadDir(dir + "/task")
		p.Ended = len(tasks) <= 1
	}
	return p, nil
}

// parseStat reads a line of proc_pid_stat(5). The name is in parentheses and may
// itself hold any byte, parentheses too.
func parseStat(line []byte) (Process, bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || end < open {
		return Process{}, false
	}
	p := Process{Name: string(line[open+1 : end])}
	ok := true
	number := func(b []byte) int {
		n, err := strconv.Atoi(string(b))
		ok = ok && err == nil
		return n
	}
	p.PID = number(bytes.TrimSpace(line[:open]))
	rest := bytes.TrimSpace(line[end+1:])
	for field := 3; len(rest) > 0; field++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte{' '})
		switch field {
		case 3:
			p.State, ok = text[0], ok && len(text) == 1
			p.Ended = p.State == 'X' || p.State == 'x'
		case 4:
			p.Parent = number(text)
		case 5:
			p.Group = number(text)
		case 6:
			p.Session = number(text)
		case 7:
			p.Terminal = number(text) != 0
		case 8:
			p.Foreground = max(0, number(text)) // -1 without a terminal
		case 11, 13:
			p.HasReaped = p.HasReaped || number(text) != 0
		case 14, 15:
			p.CPU += ticks(number(text))
		case 16, 17:
			p.Reaped += ticks(number(text))
		case 20:
			p.Threads = number(text)
		case 22:
			var err error
			p.Start, err = strconv.ParseUint(string(text), 10, 64)
			ok = ok && err == nil
		case 24:
			p.Resident = int64(number(text)) * pageSize
			return p, ok
		}
	}
	return Process{}, false
}

// ticks is a time in the unit of /proc, which is the same on every machine that Go knows.
func ticks(n int) time.Duration { return time.Duration(n) * (time.Second / 100) }

var pageSize = int64(os.Getpagesize())

// readSome fills buf from a file of /proc. Unlike package os it leaves no garbage:
// a shim reads many of them, and its heap is to stay small.
func readSome(name string, buf []byte) (int, error) {
	fd, err := open(name)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	return read(fd, buf)
}

func open(name string) (int, error) {
	for {
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func read(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}

func signal(id Identity, sig syscall.Signal) error {
	// It opens first and checks then: the process behind the descriptor can't change any
	// more.
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL):
		return ErrGone
	case err != nil:
		return os.NewSyscallError("pidfd_open", err)
	}
	defer unix.Close(fd)
	if err := id.check(); err != nil {
		return err
	}
	return gone(unix.PidfdSendSignal(fd, sig, nil, 0))
}

func all() ([]int, error) { return numbers("/proc") }

// numbers returns the entries of a directory of /proc whose names are numbers. With an error,
// others may be missing. Like [readSome] it needs no package os, whose files take twice
// as many system calls.
func numbers(dir string) ([]int, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	var found []int
	var names []string
	var buf [4096]byte
	for {
		n, err := unix.ReadDirent(fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return found, &fs.PathError{Op: "readdirent", Path: dir, Err: err}
		case n <= 0:
			return found, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			if n, err := strconv.Atoi(name); err == nil {
				found = append(found, n)
			}
		}
	}
}
