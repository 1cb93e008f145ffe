package proc

import (
	"bytes"
	"strconv"
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
	// Real, effective, saved, and that for files.
	ids := bytes.Fields(line)
	want := []byte(strconv.Itoa(uid))
	for _, id := range ids {
		if !bytes.Equal(id, want) {
			return false
		}
	}
	return len(ids) > 0
}

// Self returns the calling process as /proc shows it. In a PID namespace that
// has no /proc of its own its ids are those outside of the namespace, as are all
// others that can be read then.
func Self() (Process, error) { return readDir("/proc/self") }
