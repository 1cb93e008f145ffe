package swarm

import "time"

// KillMode says which processes of a worker get the first signal.
type KillMode int

// The kill modes. In both nothing is left in the end.
const (
	// KillTree signals every process of the worker. It is the zero value.
	KillTree KillMode = iota
	// KillMain signals the main process only; what it leaves behind is ended
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

// KillOptions say how to end a worker. The zero value asks with the backend's
// own gentle way, does not wait, and never forces.
type KillOptions struct {
	// Signal is a name valid by [ParseSignal], such as "SIGINT". Empty: the
	// backend's own gentle way, which is SIGTERM for a process and closing the
	// window in a terminal multiplexer.
	Signal string
	// Grace is how long the worker may take before it is forced, or before Kill
	// gives up. Negative is as 0.
	Grace time.Duration
	// Force says to end with SIGKILL, or what the engine has of that kind, what
	// is alive after the grace. Without it Kill then returns [ErrSurvivors] and
	// the worker goes on as if nothing had been.
	Force bool
	// Mode says whom Signal goes to.
	Mode KillMode
	// Detach says to return once the kill is under way and will be carried
	// through even if the caller and the plugin are gone, which they will be
	// when the caller is a process of this very worker.
	Detach bool
}

// KillResult says what Kill did.
type KillResult struct {
	// Status is the worker's status afterwards.
	Status Status
	// AlreadyEnded says that the worker had ended before and nothing was
	// signalled.
	AlreadyEnded bool
	// Signal is the first signal that was sent, by name; empty if none was.
	Signal string
	// Forced says that the grace was not enough.
	Forced bool
	// Survivors are the processes that are still alive, with [ErrSurvivors].
	Survivors []Process
}
