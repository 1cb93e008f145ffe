package rundir

import (
	"bytes"
	"os"
	"syscall"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

const (
	// RespawnMark is the mark in the environment of the process that finishes the
	// respawn of the worker which it was started in.
	RespawnMark = "respawn"
	// CourierMark is the mark of a courier, the process that waits until an agent can be
	// told of its messages. It is the same in whichever worker the courier was started.
	CourierMark = "courier"
	// program is the name of swarm itself.
	program = "swarm"
)

// helpers are the first arguments of the swarm that a mark is for.
var helpers = map[string][]string{
	RespawnMark: {"respawn", "--helper"},
	CourierMark: {"courier"},
}

// IsShim reports whether a run directory proves that a process is a shim: the process works
// in it, and its status.json names the process. The mark in the environment of a shim does
// not prove it, since any process can set it.
func IsShim(id proc.Identity) bool {
	path := proc.File(id.PID, StatusFile)
	if path == "" {
		return false
	}
	b, err := safefile.Read(path, MaxStatus)
	if err != nil {
		// Below a worker of root's there may be shims of other users.
		b, err = safefile.ReadForeign(path, MaxStatus)
		if err != nil || !runsAsOwner(id.PID, path) {
			return false
		}
	}
	var o object
	o.identity("shim", id)
	return bytes.Contains(b, o.b)
}

// runsAsOwner reports whether a process runs as the owner of a file.
func runsAsOwner(pid int, path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && proc.RunsAs(pid, int(st.Uid))
}
