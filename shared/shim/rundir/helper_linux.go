package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/swarmhost/swarm/shared/proc"
)

// IsHelper reports whether a process that has a mark is the program that this mark is
// for: [RespawnMark], [NotifierMark], [ServerMark], [TailMark] or [WatchdogMark]. It runs the swarm, its MCP
// server, the shim or the engines' plugins that were installed with this program, with the arguments of that mark.
func IsHelper(mark string, pid int) bool {
	h, known := helpers[mark]
	if !known {
		return false
	}
	running, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false
	}
	own, err := os.Executable()
	if err != nil {
		return false
	}
	bin := filepath.Dir(own)
	for _, path := range []string{filepath.Join(bin, h[0]), filepath.Join(bin, "../../bin", h[0])} {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, running) {
			args := proc.Args(pid)
			return len(args) >= len(h) && slices.Equal(args[1:len(h)], h[1:])
		}
	}
	return false
}
