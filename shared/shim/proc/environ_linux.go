package proc

import (
	"os"
	"strconv"
)

// Getenv returns a variable of the environment that a process was started with,
// and whether it is there. It is not if the process is gone, or someone else's.
func Getenv(pid int, name string) (string, bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	defer f.Close()
	l := lookup{name: name}
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(buf)
		if l.feed(buf[:n]) {
			return string(l.value), true
		}
		if err != nil {
			return string(l.value), l.found
		}
	}
}
