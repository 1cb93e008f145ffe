package client

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// lastLimit is the highest number of a resource limit.
const lastLimit = 15

// Inherited returns what a child of this process inherits from it besides its environment: the
// umask, the resource limits, the nice value and the score for the lack of memory. A backend whose
// shims are started by another program puts it into their launch files, so that their workers have
// what workers of the same caller have that are started directly. Unknown values are
// left out.
func Inherited() []string {
	var all []string
	add := func(words ...string) { all = append(all, strings.Join(words, " ")) }
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	add(rundir.InheritUmask, strconv.FormatInt(int64(umask()), 8))
	for limit := range lastLimit + 1 {
		var l unix.Rlimit
		if unix.Getrlimit(limit, &l) != nil {
			continue
		}
		if limit == unix.RLIMIT_NOFILE {
			// The runtime has raised it for this process, not for its children.
			var ok bool
			if l, ok = childsFiles(); !ok {
				continue
			}
		}
		add(rundir.InheritLimit, strconv.Itoa(limit), number(l.Cur), number(l.Max))
	}
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil {
		if runtime.GOOS == "linux" {
			nice = 20 - nice // the kernel's answer is never negative
		}
		add(rundir.InheritNice, strconv.Itoa(nice))
	}
	if score, err := os.ReadFile("/proc/self/oom_score_adj"); err == nil {
		add(rundir.InheritScore, strings.TrimSpace(string(score)))
	}
	return all
}

// umask returns the umask without changing it for a moment, where that can be done.
func umask() int {
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, ok := strings.Cut(string(status), "\nUmask:"); ok {
		line, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.ParseInt(strings.TrimSpace(line), 8, 32); err == nil {
			return int(n)
		}
	}
	mask := unix.Umask(0o077)
	unix.Umask(mask)
	return mask
}

// childsFiles returns the limit of open files that children of this process get. Only a child
// knows it: it is asked once it has become a program that ends at once, and before it is
// reaped.
func childsFiles() (l unix.Rlimit, ok bool) {
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", ":"}, &syscall.ProcAttr{Dir: "/", Env: []string{}})
	if err != nil {
		return l, false
	}
	ok = fileLimitOf(pid, &l) == nil
	_, _ = syscall.Wait4(pid, nil, 0, nil)
	return l, ok
}
