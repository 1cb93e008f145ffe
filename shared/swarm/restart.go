package swarm

import "time"

// RestartWhen says after which ends of its main process a worker is restarted. Readers take
// an unknown value for RestartNo.
type RestartWhen string

// The restart policies.
const (
	// RestartNo is the zero value: the worker ends with its main process.
	RestartNo RestartWhen = ""
	// RestartOnFailure restarts it unless it exited with code 0.
	RestartOnFailure RestartWhen = "on-failure"
	// RestartAlways restarts it however it ended.
	RestartAlways RestartWhen = "always"
)

// The defaults of the fields of a [Restart].
const (
	DefaultRestartMinDelay = time.Second
	DefaultRestartMaxDelay = 30 * time.Second
	DefaultRestartBudget   = 5
	DefaultRestartWindow   = time.Minute
)

// Restart is a worker's restart policy; its zero value never restarts. The shim applies it,
// even when no host is running. It never restarts a worker after a kill, a completion, a
// hangup or the end of the worker's owner. A restarted worker is the same worker, with the
// same id.
type Restart struct {
	// When says after which ends to restart.
	When RestartWhen
	// MinDelay is the delay before the first restart; each further delay is twice as
	// long, give or take a fifth, up to MaxDelay, until the worker has run for longer
	// than Window. 0: [DefaultRestartMinDelay], [DefaultRestartMaxDelay].
	MinDelay, MaxDelay time.Duration
	// Budget is the largest number of restarts within Window. The next end is then
	// the worker's end, with the cause [CauseCrashLoop]. 0: [DefaultRestartBudget],
	// [DefaultRestartWindow]. Negative values count as 0, here and above.
	Budget int
	Window time.Duration
}

// OrDefault returns r with its defaults filled in, or the zero value if it never restarts.
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

// MaxRestarts is how many of the newest restarts a [Status] has.
const MaxRestarts = 10

// Restarted is one restart of a worker.
type Restarted struct {
	// Number counts the worker's restarts from 1.
	Number int
	// Time is when the main process was started again.
	Time time.Time
	// Code and Signal are how the previous main process ended, as in [Exit].
	Code   int
	Signal string
}

// Completion is a worker's report that it is done.
type Completion struct {
	// Summary is one line, or empty.
	Summary string
	// Time is when the worker reported it.
	Time time.Time
}

// MaxSummary is the largest length of Completion.Summary, in bytes; longer ones are cut.
const MaxSummary = 1024
