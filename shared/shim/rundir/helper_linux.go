package rundir

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// IsHelper reports whether a process that has a mark is the program that this mark is
// for: [RespawnMark], [CourierMark], [ServerMark] or [TailMark]. It runs the swarm, its MCP
// server or the shim that was installed with this program, with the arguments of that mark.
func IsHelper(mark string, pid int) bool {
	h, known := helpers[mark]
	if !known {
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
	for _, path := range []string{filepath.Join(beside, h.program), filepath.Join(beside, "../../bin", h.program)} {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, running) {
			return begins(proc+"/cmdline", h.args)
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
