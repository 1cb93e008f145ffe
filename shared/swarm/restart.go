package swarm

import "time"

// RestartWhen says which ends of a worker's main process are followed by a new
// start. Readers take what they do not know for RestartNo.
type RestartWhen string

// The restart policies.
const (
	// RestartNo is the zero value: the worker ends with its main process.
	RestartNo RestartWhen = ""
	// RestartOnFailure starts it again unless it exited with code 0.
	RestartOnFailure RestartWhen = "on-failure"
	// RestartAlways starts it again however it ended.
	RestartAlways RestartWhen = "always"
)

// These are the defaults of the fields of a [Restart].
const (
	DefaultRestartMinDelay = time.Second
	DefaultRestartMaxDelay = 30 * time.Second
	DefaultRestartBudget   = 5
	DefaultRestartWindow   = time.Minute
)

// Restart is a worker's restart policy; its zero value never restarts. The shim applies it,
// even when no host is running. A kill, a completion, a hangup and the end of the worker's
// owner are never followed by a start. A restarted worker is the same worker, with the same
// id.
type Restart struct {
	// When says which ends are followed by a start.
	When RestartWhen
	// MinDelay is how long to wait before the first start; each one after it waits
	// twice as long, give or take a fifth, up to MaxDelay, until the worker has run
	// for longer than Window. 0: [DefaultRestartMinDelay], [DefaultRestartMaxDelay].
	MinDelay, MaxDelay time.Duration
	// Budget is how many starts there may be within Window. The end after that is
	// the worker's end, with the cause [CauseCrashLoop]. 0: [DefaultRestartBudget],
	// [DefaultRestartWindow]. Negative is as 0, here and above.
	Budget int
	Window time.Duration
}

// OrDefault returns r with what it does not say filled in, if it restarts at all.
func (r Restart) OrDefault() Restart {
	if r.When == RestartNo {
		return Restart{}
	}
	fill(&r.MinDelay, DefaultRestartMinDelay)
	fill(&r.MaxDelay, DefaultRestartMaxDelay)
	fill(&r.Budget, DefaultRestartBudget)
	fill(&r.Window, DefaultRestartWindow)
	r.MaxDelay = max(r.MaxDelay, r.MinDelay)
	return r
}

func fill[V int | time.Duration](v *V, otherwise V) {
	if *v <= 0 {
		*v = otherwise
	}
}

// MaxRestarts is how many of the newest restarts a [Status] tells.
const MaxRestarts = 10

// Restarted is one restart of a worker.
type Restarted struct {
	// Number counts the worker's restarts from 1.
	Number int
	// Time is when the main process was started again.
	Time time.Time
	// Code and Signal are how the one before it ended, as in [Exit].
	Code   int
	Signal string
}

// Completion is what a worker said when it was done.
type Completion struct {
	// Summary is one line, or empty.
	Summary string
	// Time is when it said so.
	Time time.Time
}

// MaxSummary is the longest Completion.Summary, in bytes; what is longer is cut.
const MaxSummary = 1024
