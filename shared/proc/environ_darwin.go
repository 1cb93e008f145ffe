package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// LookupEnv returns a variable of the environment that a process was started with, and
// whether it is there. It is not there if the process is gone or belongs to another user.
// An error means that the answer is unknown.
func LookupEnv(pid int, name string) (value string, ok bool, err error) {
	// kern.procargs2: the number of arguments, the path of the program, padding,
	// the arguments, the environment, all ended by NUL.
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return "", false, nil
	}
	args := binary.LittleEndian.Uint32(b)
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range args {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	l := lookup{name: name}
	if l.feed(rest) {
		return string(l.value), true, nil
	}
	return "", false, nil
}
