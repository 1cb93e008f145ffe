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
	// CourierMark is the mark of a courier, the process that waits until messages can be
	// delivered to an agent. It does not depend on the worker in which the courier was started.
	CourierMark = "courier"
	// ServerMark is the mark of the program that serves the MCP clients in a container.
	ServerMark = "server"
	// ServerFlag is the first argument of that program. The worker's id follows.
	ServerFlag = "-worker"
	// ServerDir is the directory in a run directory with the socket of that program.
	ServerDir = "server"
	// ServerSocket is the name of that socket.
	ServerSocket = "mcp.sock"
	// ServerTarget is where a container has that directory.
	ServerTarget = "/run/swarm"
	// ServerProgram is where a container has the program, which connects clients with the
	// socket there.
	ServerProgram = "/usr/local/bin/swarm"
	// TailMark is the mark of the program that keeps the last of what a worker wrote to the
	// terminal of a container engine: swarm-shim with [TailFlag].
	TailMark = "tail"
	// TailFlag is the only argument of that program.
	TailFlag = "-tail"
	// TailSocket is the name of the socket where that program answers. The answer is the
	// number of bytes that the worker has written since it started, as eight bytes with the
	// highest one first, and the last [MaxTail] of them.
	TailSocket = "tail.sock"
	// MaxTail is the largest number of bytes in such an answer, without their count.
	MaxTail = 64 << 10
	// TmuxName is the kernel's name of a tmux server.
	TmuxName = "tmux: server"
)

// helpers are the command lines that the marks are for: a program and its first arguments.
var helpers = map[string][]string{
	RespawnMark: {"swarm", "respawn", "--helper"},
	CourierMark: {"swarm", "courier"},
	ServerMark:  {"swarm-mcp", ServerFlag},
	TailMark:    {"swarm-shim", TailFlag},
}

// IsStranger reports whether a process with a mark in its environment belongs to no worker,
// with all processes below it: a tmux server for all workers, a helper of swarm, see
// [IsHelper], or a shim, see [IsShim].
func IsStranger(mark string, p proc.Process) bool {
	return mark == "tmux" && p.Name == TmuxName || IsHelper(mark, p.PID) || IsShim(p.Identity)
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
