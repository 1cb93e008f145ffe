package proc

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// hasChildren says whether the kernel was built with CONFIG_PROC_CHILDREN.
var hasChildren = sync.OnceValue(func() bool {
	self := os.Getpid()
	return unix.Access(childrenOf(self, self), unix.F_OK) == nil
})

// lister returns a function that lists the children of a pid: from the kernel's own list,
// or, without one, from a list of all processes.
func lister() (func(Process) ([]int, error), error) {
	if hasChildren() {
		return children, nil
	}
	return familyOf()
}

// children reads the lists of all threads: each has the children that it forked,
// and one of them those that a subreaper took over.
func children(p Process) ([]int, error) {
	// Most processes have one thread, which is named as they are.
	if p.Threads == 1 {
		return appendChildren(nil, childrenOf(p.PID, p.PID))
	}
	tasks, err := threads(p.PID)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, task := range tasks {
		// A thread may end meanwhile.
		pids, err = appendChildren(pids, childrenOf(p.PID, task))
		if err != nil && !errors.Is(err, ErrGone) {
			return pids, err
		}
	}
	return pids, nil
}

// Threads returns the ids of the threads of a process; none if it is gone.
func Threads(pid int) []int {
	tids, err := threads(pid)
	if err != nil {
		return nil
	}
	return tids
}

func threads(pid int) ([]int, error) {
	tids, err := numbers("/proc/" + strconv.Itoa(pid) + "/task")
	return tids, gone(err)
}

// ForkThreads returns the threads of the calling process that have children, if pid is the
// only child that it forked: the thread that forked it, and the first thread, which gets
// the orphans of a subreaper. It is nil if that is unknown; then the lists of all threads
// must be read.
func ForkThreads(child int) []int {
	self := os.Getpid()
	if !hasChildren() {
		return nil
	}
	tids, err := threads(self)
	if err != nil {
		return nil
	}
	for _, tid := range tids {
		pids, err := appendChildren(nil, childrenOf(self, tid))
		switch {
		case err != nil || !slices.Contains(pids, child):
		case tid == self:
			return []int{self}
		default:
			return []int{self, tid}
		}
	}
	return nil
}

// own returns the children of the calling process.
func own(self int, threads []int, list func(Process) ([]int, error)) ([]int, error) {
	if len(threads) == 0 {
		return list(Process{Identity: Identity{PID: self}})
	}
	var pids []int
	for _, tid := range threads {
		var err error
		if pids, err = appendChildren(pids, childrenOf(self, tid)); err != nil {
			// A thread that ended leaves its children to another one.
			return list(Process{Identity: Identity{PID: self}})
		}
	}
	return pids, nil
}

func childrenOf(pid, tid int) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/children"
}

// appendChildren reads a list of pids, each followed by a space, of any length.
func appendChildren(pids []int, name string) ([]int, error) {
	fd, err := open(name)
	if err != nil {
		return pids, gone(err)
	}
	defer unix.Close(fd)
	var buf [1024]byte
	for pid := 0; ; {
		n, err := read(fd, buf[:])
		if err != nil || n == 0 {
			return pids, gone(err)
		}
		for _, b := range buf[:n] {
			if b >= '0' && b <= '9' {
				pid = pid*10 + int(b-'0')
			} else if pid > 0 {
				pids, pid = append(pids, pid), 0
			}
		}
	}
}
