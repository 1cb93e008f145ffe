package swarm

import "time"

// State says whether a worker runs.
type State int

// The states of a worker. A reader that is sent a state it does not know reads
// StateUnknown.
const (
	// StateUnknown means that the state can't be determined at the moment. It is the
	// zero value.
	StateUnknown State = iota
	// StateRunning means that processes of the worker are alive and its shim or
	// engine watches them.
	StateRunning
	// StateExited means that no process of the worker is left and that its exit is
	// known; Status.Exit is set.
	StateExited
	// StateLost means that the worker existed, that its shim or engine has lost it,
	// and that its exit will never be known. Processes that outlived their shim are
	// in Status.Survivors, and those that perhaps did in Status.PerhapsAlive.
	StateLost
	// StatePending means that the engine has accepted the worker and that no process of it
	// has been started yet, because it waits for its turn or for a place, such as in a queue
	// or for a node of a cluster. Reason says for what. It takes no input, and Kill ends it.
	StatePending
)

// Active reports whether a worker in that state runs, or waits for its start.
func (s State) Active() bool { return s == StateRunning || s == StatePending }

// String returns the state in lower case: "unknown", "running", "exited",
// "lost", "pending".
func (s State) String() string {
	switch s {
	case StateRunning:
		return "running"
	case StateExited:
		return "exited"
	case StateLost:
		return "lost"
	case StatePending:
		return "pending"
	default:
		return "unknown"
	}
}

// Status is a backend's knowledge of a worker at one moment.
type Status struct {
	// State is always set.
	State State
	// PID is the number of the worker's main process on the machine where it runs, 0 if
	// it has none or the number is not known. It is for people: the host never signals it.
	PID int
	// Started is when the main process was started; zero if not known.
	Started time.Time
	// Exit is set if and only if State is StateExited.
	Exit *Exit
	// Where is the worker's location; its zero value means not known.
	Where Where
	// Reason is one line that explains StateUnknown and StateLost.
	Reason string
	// Survivors are the processes of a lost worker that are still alive.
	Survivors []Process
	// PerhapsAlive are living processes that are perhaps those of a lost worker, without
	// proof, such as the main process that its shim recorded. While there are any, the worker
	// may still run: it has not ended, and no other one takes its place. PID names the main
	// process if it is one of them. Kill names them and does not signal them.
	PerhapsAlive []Process
	// Restarts counts the restarts by the worker's restart policy; LastRestarts are
	// the newest of them, at most [MaxRestarts], the oldest first.
	// Between two starts the worker is StateRunning with PID 0 and a Reason.
	Restarts     int
	LastRestarts []Restarted
	// Completion is set once the worker has reported that it is done, in any state.
	Completion *Completion
	// Paused says that the worker was paused by [Pauser] and its processes do not run. The
	// state is StateRunning then.
	Paused bool
	// Unenforced is one line that says which limits of a worker with [Limits.BestEffort] are
	// not or only partly enforced, and why; empty if all are enforced.
	Unenforced string
}

// Cause says why a worker ended, as observed by its shim. Readers keep causes that
// they do not know.
type Cause string

// The causes of an end.
const (
	// CauseExited means that the main process ended by itself.
	CauseExited Cause = "exited"
	// CauseKilled means that Kill ended the worker.
	CauseKilled Cause = "killed"
	// CauseHangup means that the worker's terminal was closed from outside.
	CauseHangup Cause = "hangup"
	// CauseShutdown means that the system signalled the shim to exit.
	CauseShutdown Cause = "shutdown"
	// CauseCompleted means that the worker reported that it is done before anything
	// else ended it; the summary is in Status.Completion.
	CauseCompleted Cause = "completed"
	// CauseOwner means that the worker was ended because its owner had ended.
	CauseOwner Cause = "owner"
	// CauseCrashLoop means that the main process ended by itself and the budget of
	// its restart policy was used up.
	CauseCrashLoop Cause = "crash-loop"
	// CauseOutOfMemory means that the system killed the main process because the worker
	// needed more memory than its limit allows. Reason has the limit and the peak, such as
	// "limit 2 GiB, peak 2 GiB". If another process was killed for that reason and the main
	// process then ends by itself, the cause is CauseExited and Reason mentions it.
	CauseOutOfMemory Cause = "out-of-memory"
	// CauseNotStarted means that the command could not be run at all.
	CauseNotStarted Cause = "not-started"
	// CauseEvicted means that the engine ended the worker for a reason of its own, which is in
	// Reason, such as that its machine is taken out of service.
	CauseEvicted Cause = "evicted"
)

// Exit describes how a worker ended. It is never guessed: an end that is not known for
// certain is [StateLost].
type Exit struct {
	// Code is the exit code of the main process, -1 if a signal ended it.
	Code int
	// Signal is the name of the signal that ended the main process, such as
	// "SIGKILL", else empty.
	Signal string
	// Cause says why.
	Cause Cause
	// Reason is one line with details, or empty.
	Reason string
	// Time is when the main process ended, or when the worker was ended between two
	// starts.
	Time time.Time
	// Usage is what the worker used until then; nil if that is not known.
	Usage *Usage `json:",omitempty"`
}

// Where is the location of a worker.
type Where struct {
	// Kind is the kind of location, such as "tmux window" or "node".
	Kind string
	// Name is the location's name, such as "swarm-1a2b3c4d:agent"; empty if a running
	// worker no longer has a location of that kind, for example after its window was closed.
	Name string
	// Parts are details for programs, such as session and window. Keys are lower-case
	// words.
	Parts map[string]string
	// ID is the full id by which the engine identifies the location for as long as it exists,
	// such as the 64 digits of a container's id; empty if there is none but the name. It stays
	// the same while the worker runs. A host compares it with the facts of the kernel, to decide
	// whether a process is inside the worker's container: a backend of containers has to set it
	// for 'swarm mcp' to serve the clients in there.
	ID string
}
