package swarm

import (
	"slices"
	"time"
)

// KillMode says which processes of a worker get the first signal.
type KillMode int

// The kill modes. With both, no process is left in the end.
const (
	// KillTree signals every process of the worker. It is the zero value.
	KillTree KillMode = iota
	// KillMain signals the main process only; the remaining processes are ended
	// after it.
	KillMain
)

// String returns "tree" or "main".
func (m KillMode) String() string {
	if m == KillMain {
		return "main"
	}
	return "tree"
}

// KillOptions say how to end a worker. The zero value uses the backend's default
// signal, does not wait, and never forces.
type KillOptions struct {
	// Signal is a name valid by [ParseSignal], such as "SIGINT". Empty: the backend's
	// default, which is SIGTERM for a process and closing the window in a terminal
	// multiplexer.
	Signal string
	// Grace is how long the worker may take to end before Force applies or Kill gives
	// up. Negative is as 0.
	Grace time.Duration
	// Force ends processes that are alive after the grace with SIGKILL or the engine's
	// equivalent. Without it, Kill then returns [ErrSurvivors] and the worker keeps
	// running.
	Force bool
	// Mode says which processes get Signal.
	Mode KillMode
	// Detach returns once the kill has begun and will be carried out even if the
	// caller and the plugin are gone, as they will be if the caller is a process of
	// this worker.
	Detach bool
}

// KillResult is the result of a Kill.
type KillResult struct {
	// Status is the worker's status afterwards.
	Status Status
	// AlreadyEnded says that the worker had already ended and nothing was signalled.
	AlreadyEnded bool
	// Signal is the first signal that was sent, by name; empty if none was.
	Signal string
	// Forced says that processes had to be ended by force.
	Forced bool
	// Survivors are the processes that are still alive, with [ErrSurvivors].
	Survivors []Process
}

// signals are the names that a kill may use, the same on every system, sorted.
var signals = []string{
	"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO",
	"SIGKILL", "SIGPIPE", "SIGPROF", "SIGQUIT", "SIGSEGV", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
}

// Signals returns the names that [ParseSignal] knows on every system, sorted.
func Signals() []string { return slices.Clone(signals) }
