package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Dir is empty: only libproc reports the working directory of a process.
func Dir(int) string { return "" }

// File returns a path of a file in the directory that is the only argument of a
// process, as it is of a shim; empty if there is none.
func File(pid int, name string) string {
	// kern.procargs2: the number of arguments, the path of the program, padding,
	// the arguments, all ended by NUL.
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 || binary.LittleEndian.Uint32(b) != 2 {
		return ""
	}
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	_, rest, _ = bytes.Cut(bytes.TrimLeft(rest, "\x00"), []byte{0})
	dir, _, _ := bytes.Cut(rest, []byte{0})
	if len(dir) == 0 {
		return ""
	}
	return string(dir) + "/" + name
}

// HasClearedEnv is false: an empty environment can't be told from one of a protected
// process.
func HasClearedEnv(int) bool { return false }

// HoldsPipe is false: see Dir.
func HoldsPipe(int, ...uint64) bool { return false }

// HoldsClosed is false: there is no cheap way to list the open files of another process.
func HoldsClosed(int, uint64) bool { return false }
