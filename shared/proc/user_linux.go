package proc

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// RunsAs reports whether a process runs as the user uid, and can't become
// another one by an id that it has set aside. It is false for a process that
// is gone.
func RunsAs(pid, uid int) bool {
	var buf [4096]byte
	n, err := readSome("/proc/"+strconv.Itoa(pid)+"/status", buf[:])
	if err != nil {
		return false
	}
	_, rest, ok := bytes.Cut(buf[:n], []byte("\nUid:"))
	line, _, whole := bytes.Cut(rest, []byte{'\n'})
	if !ok || !whole {
		return false
	}
	// The real, the effective and the saved one, and the one for files.
	ids := strings.Fields(string(line))
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return id != strconv.Itoa(uid) })
}

// Self returns the calling process as /proc shows it. In a PID namespace that
// has no /proc of its own its ids are those outside of the namespace, as are all
// others that can be read then.
func Self() (Process, error) { return readDir("/proc/self") }
