package caller

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
)

// shimDir returns the run directory of a shim, which works in it and has it as its
// only argument, or anything else for another process. A caller in a user namespace of
// its own may not see where a process outside of it works, but how it was called.
func shimDir(pid int) string {
	proc := "/proc/" + strconv.Itoa(pid)
	dir, err := os.Readlink(proc + "/cwd")
	if err == nil {
		return dir
	}
	if !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	args, err := os.ReadFile(proc + "/cmdline")
	if err != nil || bytes.Count(args, []byte{0}) != 2 {
		return ""
	}
	_, arg, _ := bytes.Cut(args, []byte{0})
	return string(bytes.TrimSuffix(arg, []byte{0}))
}
