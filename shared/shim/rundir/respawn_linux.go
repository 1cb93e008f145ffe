package rundir

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// IsRespawn reports whether a process that has the mark [RespawnMark] is the helper
// that finishes the respawn of the worker which it was started in: it runs the swarm
// that was installed with this program, and that command of it.
func IsRespawn(pid int) bool {
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
			return isRespawn(proc + "/cmdline")
		}
	}
	return false
}

// isRespawn reads a command line as far as its first arguments.
func isRespawn(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 8<<10))
	args := bytes.Split(b, []byte{0})
	return len(args) > 2 && string(args[1]) == "respawn" && string(args[2]) == "--helper"
}
