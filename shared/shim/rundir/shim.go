package rundir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// RespawnMark is the mark in the environment of a process that was started in
	// a worker to finish the respawn of that worker.
	RespawnMark = "respawn"
	// NotifierMark is the mark of a notifier, the process that waits until messages can be
	// delivered to an agent. It does not depend on the worker in which it was started.
	NotifierMark = "notifier"
	// ServerMark is the mark of the program that serves the MCP clients in a container.
	ServerMark = "server"
	// ServerCommand is the first argument of that program.
	ServerCommand = "mcp"
	// ServerFlag is the second one. The worker's id follows.
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
	// WatchdogMark is the mark of the program that ends a command in a container when the program that runs the command
	// is ended.
	WatchdogMark = "watchdog"
	// WatchdogCommand is the first argument of that program.
	WatchdogCommand = "exec-watchdog"
	// TmuxName is the kernel's name of a tmux server.
	TmuxName = "tmux: server"
)

// helpers are the command lines that the marks are for: a program and its first arguments.
var helpers = map[string][]string{
	RespawnMark:  {"swarm", "respawn", "--helper"},
	NotifierMark: {"swarm", "notifier"},
	ServerMark:   {"swarm-serve", ServerCommand, ServerFlag},
	TailMark:     {"swarm-shim", TailFlag},
	WatchdogMark: {"swarm-engines", WatchdogCommand},
}

// OneProcessor is an environment variable of a shim, and OneProcessorValue its value. Go programs
// that start with it prepare for one processor: on a machine with many, a shim would otherwise
// take several times the memory and more threads.
const (
	OneProcessor      = "GOMAXPROCS"
	OneProcessorValue = "1"
)

// ShimEnv returns the variables that the shim of a worker has in its environment.
func ShimEnv(id string) []string {
	return []string{swarm.EnvShim + "=" + id, OneProcessor + "=" + OneProcessorValue}
}

// EngineKey is the name of the file in a state directory that holds the secret of
// [swarm.EnvEngine], which is readable for its user alone.
const EngineKey = "engine.key"

// minKey is the length of the shortest secret, and maxKey that of the longest one.
const minKey, maxKey = 26, 256

// EngineMark returns the value of [swarm.EnvEngine] for a secret and the file that holds it.
func EngineMark(secret, file string) string { return secret + " " + file }

// Marks are the variables of a process that say to which worker it belongs.
type Marks struct{ Shim, Engine, Worker string }

// MarksOf reads the environment of a process once.
func MarksOf(pid int) (Marks, error) {
	v, err := proc.LookupEnvs(pid, swarm.EnvShim, swarm.EnvEngine, swarm.EnvWorkerID)
	return Marks{Shim: v[0], Engine: v[1], Worker: v[2]}, err
}

// IsServer reports whether the marks prove that a process is the server of an engine, such as
// a terminal multiplexer, which belongs to no worker, or runs below one. A process there that
// carries the id of a worker has been put there by that worker, whose part it is.
//
//   - A tmux server that swarm's plugin had to start is known by its mark and its name.
//   - Another server was started by a plugin, whose mark it has inherited: the secret of a state
//     directory. It began a session of its own, as servers do. So the plugin does not
//     count as a server itself: it is in the session of its host, whose leader has no mark.
func (m Marks) IsServer(p proc.Process, worker string) bool {
	if m.Shim == "tmux" && p.Name == TmuxName {
		return true
	}
	if m.Engine == "" || worker != "" && m.Worker == worker || !provesEngine(m.Engine) {
		return false
	}
	if p.Session == p.PID {
		return true
	}
	leader, err := proc.LookupEnvs(p.Session, swarm.EnvEngine)
	return err == nil && leader[0] == m.Engine
}

// provesEngine reports whether a mark holds the secret of the file that it names.
func provesEngine(mark string) bool {
	secret, file, ok := strings.Cut(mark, " ")
	if !ok || len(secret) < minKey || filepath.Base(file) != EngineKey || !filepath.IsAbs(file) {
		return false
	}
	b, err := safefile.Read(file, maxKey)
	return err == nil && string(b) == secret
}

// IsStranger reports whether a process belongs to no worker, or to another one than this:
// it is a server, see [Marks.IsServer], a helper of swarm, see [IsHelper], or a shim, see
// [IsShim].
func (m Marks) IsStranger(p proc.Process, worker string) bool {
	return m.IsServer(p, worker) || m.Shim != "" && (IsHelper(m.Shim, p.PID) || IsShim(p.Identity))
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
