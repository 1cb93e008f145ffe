package proc

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// hasChildren says whether the kernel was built with CONFIG_PROC_CHILDREN.
var hasChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// lister returns a function that lists the children of a pid: from the kernel's
// own list, or from one look at all processes where it keeps none.
func lister() func(int) []int {
	if hasChildren() {
		return children
	}
	return familyOf()
}

// children reads the lists of all threads: each has the children that it forked,
// and one of them those that a subreaper took over.
func children(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	tasks, _ := d.Readdirnames(-1)
	var pids []int
	for _, task := range tasks {
		list, _ := os.ReadFile(dir + "/" + task + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
