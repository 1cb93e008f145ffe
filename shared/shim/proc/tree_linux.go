package proc

import (
	"errors"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// hasChildren says whether the kernel was built with CONFIG_PROC_CHILDREN.
var hasChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// lister returns a function that lists the children of a pid: from the kernel's
// own list, or from one look at all processes where it keeps none.
func lister() (func(int) ([]int, error), error) {
	if hasChildren() {
		return children, nil
	}
	return familyOf()
}

// children reads the lists of all threads: each has the children that it forked,
// and one of them those that a subreaper took over.
func children(pid int) ([]int, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return nil, gone(err)
	}
	// Most processes have one thread, which is named as they are.
	if st.Nlink == 3 {
		return appendChildren(nil, dir+"/"+strconv.Itoa(pid)+"/children")
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil, gone(err)
	}
	defer d.Close()
	tasks, err := d.Readdirnames(-1)
	if err != nil {
		return nil, gone(err)
	}
	var pids []int
	for _, task := range tasks {
		// A thread may end meanwhile.
		pids, err = appendChildren(pids, dir+"/"+task+"/children")
		if err != nil && !errors.Is(err, ErrGone) {
			return pids, err
		}
	}
	return pids, nil
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
