package rundir

import "github.com/swarmhost/swarm/shared/shim/proc"

// The files of a run directory.
const (
	WorkerFile = "worker.json"
	LaunchFile = "launch"
	ReadyFIFO  = "ready"
	StatusFile = "status.json"
	Socket     = "ctl.sock"
	LogFile    = "output.log"
)

// Segments is how many log files there are at most, the newest included. Each
// holds at most the cap divided by Segments.
const Segments = 4

// DefaultOutputLimit is the cap on all log files of a worker together, in bytes.
const DefaultOutputLimit = 64 << 20

// StatusVersion is the version of [Status]. A reader refuses a newer one.
const StatusVersion = 1

// The values of Status.State.
const (
	StateRunning = "running"
	StateEnded   = "ended"
)

// Status is the content of status.json.
type Status struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	State   string `json:"state"`
	// Shim is the keeper itself, Main the worker's main process.
	Shim Identity `json:"shim"`
	Main Identity `json:"main"`
	// Session is the id of the session that the main process leads.
	Session int `json:"session"`
	// StartedNS and EndedNS are Unix times in nanoseconds; EndedNS is when the
	// main process ended, 0 before.
	StartedNS int64 `json:"started_ns"`
	EndedNS   int64 `json:"ended_ns"`
	// Code is the exit code, -1 if a signal ended the main process, whose name
	// is then in Signal.
	Code   int    `json:"code"`
	Signal string `json:"signal"`
	// Cause is a [github.com/swarmhost/swarm/shared/swarm.Cause].
	Cause  string `json:"cause"`
	Reason string `json:"reason"`
	// Forced says that SIGKILL was needed.
	Forced bool `json:"forced"`
	// DroppedBytes and DroppedLines count output that is no longer kept.
	DroppedBytes int64 `json:"dropped_bytes"`
	DroppedLines int64 `json:"dropped_lines"`
}

// Identity names one process for ever: its pid may be used again, but not with
// the same start time since the same boot.
type Identity = proc.Identity

// Launch is the content of the launch file.
type Launch struct {
	ID      string
	Command []string
	Dir     string
	Env     []string
	// Terminal says that the shim's own standard streams are a terminal, and
	// that the worker gets a terminal of its own, copied to it. TERM, TMUX and
	// TMUX_PANE are then taken from the shim's environment.
	Terminal bool
	// GraceMS, Force and MainOnly are the policy for what outlives the main
	// process and for an end that nobody asked the shim for.
	GraceMS  int64
	Force    bool
	MainOnly bool
	// OutputLimit is the cap on the log, in bytes; 0 is DefaultOutputLimit.
	OutputLimit int64
}
