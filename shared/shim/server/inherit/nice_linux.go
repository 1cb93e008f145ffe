package inherit

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// reNice sets the nice value of all threads: the kernel has one for each, and a child gets that of
// the thread that starts it.
func reNice(nice int) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, nice)
		}
	}
}
