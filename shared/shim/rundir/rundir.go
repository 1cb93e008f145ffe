package rundir

import (
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The files of a run directory.
const (
	WorkerFile = "worker.json"
	LaunchFile = "launch"
	ReadyFIFO  = "ready"
	StatusFile = "status.json"
	// FinalFile is the last status, until it is renamed to StatusFile.
	FinalFile = StatusFile + ".end"
	// UpdateFile is the next status of a worker that runs, until it is renamed to StatusFile.
	UpdateFile = StatusFile + ".tmp"
	Socket     = "ctl.sock"
	LogFile    = "output.log"
	ScreenFile = "screen"
	OrderFile  = "order"
)

// MaxStatus, MaxWorker and MaxLaunch are the largest StatusFile, WorkerFile and
// LaunchFile, in bytes. Larger ones are damaged: no shim and no host writes them.
const (
	MaxStatus = 64 << 10
	MaxWorker = 64 << 20
	MaxLaunch = 64 << 20
)

// OrderLife is how long an order in the OrderFile is valid.
const OrderLife = 30 * time.Second

// MaxScreen is the largest ScreenFile, in bytes.
const MaxScreen = 1 << 20

// Segments is how many log files there are at most, the newest included. Each
// holds at most the cap divided by Segments.
const Segments = 4

// LogName returns the name of the ith file of a log, counted from 0 for the newest.
func LogName(i int) string {
	if i == 0 {
		return LogFile
	}
	return LogFile + "." + strconv.Itoa(i)
}

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
	// Shim is the shim itself, Main the worker's main process, which is zero between two
	// starts.
	Shim Identity `json:"shim"`
	Main Identity `json:"main"`
	// Session is the id of the session that the main process leads.
	Session int `json:"session"`
	// Dir is the main process's working directory, and Pipes are its output, or Terminal is
	// the device number of its terminal. They help to find the remaining processes of a
	// worker that has lost its shim.
	Dir      string `json:"dir"`
	Pipes    Pipes  `json:"pipes"`
	Terminal uint64 `json:"terminal"`
	// StartedNS and EndedNS are Unix times in nanoseconds: when the main process
	// was started, and when it ended, 0 before. A worker that was ended between
	// two starts ended then.
	StartedNS int64 `json:"started_ns"`
	EndedNS   int64 `json:"ended_ns"`
	// Code is the exit code, -1 if a signal ended the main process, whose name
	// is then in Signal.
	Code   int         `json:"code"`
	Signal string      `json:"signal"`
	Cause  swarm.Cause `json:"cause"`
	// Reason is one line; of a worker that runs: that it is between two starts.
	Reason string `json:"reason"`
	// Forced says that SIGKILL was needed.
	Forced bool `json:"forced"`
	// DroppedBytes and DroppedLines count the dropped output.
	DroppedBytes int64 `json:"dropped_bytes"`
	DroppedLines int64 `json:"dropped_lines"`
	// Restarts counts the starts after the first one. LastRestarts are the newest
	// of them, the oldest first.
	Restarts     int         `json:"restarts"`
	LastRestarts []Restarted `json:"last_restarts"`
	// Completion is nil until the worker has reported its completion.
	Completion *Completion `json:"completion"`
	// Used is what the worker has used, nil until it has ended.
	Used *Used `json:"used"`
	// Groups are the directories of the worker's control group; none without limits. Only a
	// group of the worker's name is believed, since the worker could have written this.
	Groups []string `json:"groups"`
	// Paused says that the processes of the worker are stopped on request.
	Paused bool `json:"paused"`
	// Unenforced is one line: which limits are not enforced, and why, and which limit of the caller
	// also holds for the shim.
	Unenforced string `json:"unenforced"`
}

// Used is what a worker has used in all its runs. A number is -1 if it is not known.
type Used struct {
	// CPUNS is the time on CPUs, in nanoseconds.
	CPUNS int64 `json:"cpu_ns"`
	// Peak is the most memory that the worker's group has held, or, without a group, the
	// largest resident memory of a single process; in bytes.
	Peak int64 `json:"peak"`
	// Read and Written are bytes read from and written to storage.
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
}

// Pipes are the inode numbers of the pipes that are a worker's standard output and
// error; 0 for a stream that is not a pipe.
type Pipes struct {
	Out uint64 `json:"out"`
	Err uint64 `json:"err"`
}

// Restarted is one start after the first one.
type Restarted struct {
	Number int   `json:"number"`
	TimeNS int64 `json:"time_ns"`
	// Code and Signal are how the main process before it ended.
	Code   int    `json:"code"`
	Signal string `json:"signal"`
}

// Completion is the worker's report that it is done.
type Completion struct {
	Summary string `json:"summary"`
	TimeNS  int64  `json:"time_ns"`
}

// Identity names one process for all time: its pid may be used again, but not with
// the same start time since the same boot.
type Identity = proc.Identity

// JournalLink is the symbolic link in a run directory to the host's journal, a
// directory in which the shim leaves an entry when the host has something to record. A
// host without a journal makes no link, and gets no entries.
const JournalLink = "journal"

// JournalEntry returns the name of the shim's nth entry for the worker with that id,
// counted from 1; 0 is the last one, for the worker's end.
func JournalEntry(id string, n int) string {
	if n == 0 {
		return id
	}
	return id + "." + strconv.Itoa(n)
}

// JournalID returns the id of the worker that an entry is about.
func JournalID(entry string) string {
	id, _, _ := strings.Cut(entry, ".")
	return id
}
