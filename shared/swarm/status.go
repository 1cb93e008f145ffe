package swarm

import "time"

// State says whether a worker lives.
type State int

// The states of a worker. A reader that is sent a state it does not know reads
// StateUnknown.
const (
	// StateUnknown means that nobody can tell at the moment. It is the zero
	// value.
	StateUnknown State = iota
	// StateRunning means that something of the worker is alive and its shim or
	// engine watches it.
	StateRunning
	// StateExited means that nothing of the worker is left and that its exit is
	// known; Status.Exit is set.
	StateExited
	// StateLost means that the worker was there, that what watched it is gone,
	// and that its exit will never be known. Processes that outlived their
	// shim are in Status.Survivors.
	StateLost
)

// String returns the state in lower case: "unknown", "running", "exited",
// "lost".
func (s State) String() string {
	switch s {
	case StateRunning:
		return "running"
	case StateExited:
		return "exited"
	case StateLost:
		return "lost"
	default:
		return "unknown"
	}
}

// Status is what a backend knows of a worker at one moment.
type Status struct {
	// State is always set.
	State State
	// PID is the number of the worker's main process on the machine where it
	// runs, 0 if there is none or it is not known. It is for people: the host
	// never signals it.
	PID int
	// Started is when the main process was started; zero if not known.
	Started time.Time
	// Exit is set if and only if State is StateExited.
	Exit *Exit
	// Where says where the worker is; its zero value says nothing.
	Where Where
	// Reason is one line for StateUnknown and StateLost: why.
	Reason string
	// Survivors are the processes of a lost worker that are still alive.
	Survivors []Process
	// Restarts is how often the worker was started again by its restart policy,
	// LastRestarts the newest of them, the oldest first, at most [MaxRestarts].
	// Between two starts the worker is StateRunning with PID 0 and a Reason.
	Restarts     int
	LastRestarts []Restarted
	// Completion is set once the worker said that it is done, whatever its state.
	Completion *Completion
	// Paused says that the worker was stopped by [Pauser] and its processes do not run. It
	// is StateRunning then.
	Paused bool
	// Unenforced is one line that says which limits of a worker with [Limits.BestEffort] are
	// not enforced, or only in part, and why; empty if all are.
	Unenforced string
}

// Cause says why a worker ended, as its shim saw it first hand. Readers keep
// causes that they do not know.
type Cause string

// The causes of an end.
const (
	// CauseExited means that the main process ended by itself.
	CauseExited Cause = "exited"
	// CauseKilled means that Kill ended the worker.
	CauseKilled Cause = "killed"
	// CauseHangup means that the terminal of the worker was closed from outside.
	CauseHangup Cause = "hangup"
	// CauseShutdown means that the shim was told by the system to end.
	CauseShutdown Cause = "shutdown"
	// CauseCompleted means that the worker said that it is done before anything
	// else ended it; the summary is in Status.Completion.
	CauseCompleted Cause = "completed"
	// CauseOwner means that the worker was ended because its owner had ended.
	CauseOwner Cause = "owner"
	// CauseCrashLoop means that the main process ended by itself, and once too
	// often for the budget of its restart policy.
	CauseCrashLoop Cause = "crash-loop"
	// CauseOutOfMemory means that the system killed the main process because the worker
	// needed more memory than its limit allows. Reason has the limit and the peak, such as
	// "limit 2 GiB, peak 2 GiB". The end of another process for that reason is not a cause:
	// if the main process then ends by itself, the cause is CauseExited and Reason says it.
	CauseOutOfMemory Cause = "out-of-memory"
	// CauseNotStarted means that the command could not be run at all.
	CauseNotStarted Cause = "not-started"
)

// Exit is how a worker ended. It is never invented: what is not known for
// certain is [StateLost].
type Exit struct {
	// Code is the exit code of the main process, -1 if a signal ended it.
	Code int
	// Signal is the name of the signal that ended the main process, such as
	// "SIGKILL", else empty.
	Signal string
	// Cause says why.
	Cause Cause
	// Reason is one line in addition, or empty.
	Reason string
	// Time is when the main process ended, or when the worker was ended between two
	// starts of it.
	Time time.Time
	// Usage is what the worker used until then; nil if that is not known.
	Usage *Usage `json:",omitempty"`
}

// Where tells a person where a worker is, and programs the parts of it.
type Where struct {
	// Kind is what it is in, such as "tmux window" or "node".
	Kind string
	// Name is its name there, such as "swarm-1a2b3c4d:agent"; empty if a worker that
	// runs has no place of that kind any more, such as one whose window was closed.
	Name string
	// Parts are facts for programs, such as session and window. Keys are lower
	// case words.
	Parts map[string]string
}
