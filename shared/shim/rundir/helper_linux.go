package rundir

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// IsHelper reports whether a process that has a mark is the swarm that this mark is
// for: [RespawnMark] or [CourierMark]. It runs the swarm that was installed with this
// program, and that command of it.
func IsHelper(mark string, pid int) bool {
	if helpers[mark] == nil {
		return false
	}
	proc := "/proc/" + strconv.Itoa(pid)
	running, err := os.Stat(proc + "/exe")
	if err != nil {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	beside := filepath.Dir(own)
	for _, path := range []string{filepath.Join(beside, program), filepath.Join(beside, "../../bin", program)} {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, running) {
			return begins(proc+"/cmdline", helpers[mark])
		}
	}
	return false
}

// begins reports whether the arguments of a command line begin with some.
func begins(path string, want []string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 8<<10))
	args := bytes.Split(b, []byte{0})
	for i, arg := range want {
		if len(args) < i+2 || string(args[i+1]) != arg {
			return false
		}
	}
	return true
}
