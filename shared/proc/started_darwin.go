package proc

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Args returns the arguments of a process, the program's name first: those that it was
// started with, or put in their place itself. It returns nil if they can't be read.
func Args(pid int) []string {
	args, _ := startedWith(pid)
	return args
}

// startedWith returns the arguments of a process, and its environment with a NUL behind each
// entry; nil if they can't be read.
func startedWith(pid int) (args []string, env []byte) {
	// kern.procargs2: the number of arguments, the path of the program, padding,
	// the arguments, the environment, all ended by NUL.
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return nil, nil
	}
	count := binary.LittleEndian.Uint32(b)
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		arg, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		args, rest = append(args, string(arg)), after
	}
	return args, rest
}

func lookupAll(pid int, each func([]byte) bool) error {
	_, env := startedWith(pid)
	each(env)
	return nil
}
