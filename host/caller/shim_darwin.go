package caller

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// shimDir returns the run directory of a shim, which is its only argument,
// or anything else for another process.
func shimDir(pid int) string {
	// kern.procargs2: the number of arguments, the path of the program, padding,
	// the arguments, all ended by NUL.
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 || binary.LittleEndian.Uint32(b) != 2 {
		return ""
	}
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	_, rest, _ = bytes.Cut(bytes.TrimLeft(rest, "\x00"), []byte{0})
	dir, _, _ := bytes.Cut(rest, []byte{0})
	return string(dir)
}
