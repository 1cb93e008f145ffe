package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Getenv returns a variable of the environment that a process was started with,
// and whether it is there. It is not if the process is gone, or someone else's.
func Getenv(pid int, name string) (string, bool) {
	fd, err := open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	l := lookup{name: name}
	var buf [4096]byte
	for {
		n, err := read(fd, buf[:])
		if err != nil || n == 0 {
			return string(l.value), l.found
		}
		if l.feed(buf[:n]) {
			return string(l.value), true
		}
	}
}
