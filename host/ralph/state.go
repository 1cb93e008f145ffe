package ralph

import (
	"encoding/json"
	"time"

	"github.com/swarmhost/swarm/host/profile"
)

// Version is the version of state.json. A newer one is not read.
const Version = 1

// Status is the status of a loop in its state. Only the worker's backend knows whether its
// worker runs.
type Status string

const (
	// Running: it continues with the next iteration.
	Running Status = "running"
	// Paused: it waits after the iteration that is under way, if there is one.
	Paused Status = "paused"
	// Stopped: it has ended, or was killed.
	Stopped Status = "stopped"
	// Failed: it gave up.
	Failed Status = "failed"
)

// Reason is the reason why a loop has ended.
type Reason string

// The reasons of an end. A loop that has not ended has none.
const (
	ReasonKilled     Reason = "killed"
	ReasonIterations Reason = "max_iterations"
	ReasonDone       Reason = "done_pattern"
	ReasonFailures   Reason = "consecutive_failures"
	ReasonPrompt     Reason = "prompt_file"
	// ReasonDialog: the agent waits for a person, see [State.Dialog]. A loop that it
	// paused continues with the same iteration.
	ReasonDialog Reason = "dialog"
	// ReasonSession: the agent's conversation is not known, which the next iteration was to
	// continue with.
	ReasonSession Reason = "no_session"
	// ReasonProgress: a loop was paused because its last iterations made no progress.
	ReasonProgress Reason = "no_progress"
	// ReasonTime: the loop has used all of its time.
	ReasonTime Reason = "max_time"
	// ReasonCompaction and ReasonContext are why an iteration was ended early. The
	// loop continues.
	ReasonCompaction Reason = "compaction"
	ReasonContext    Reason = "context_threshold"
)

// MaxFailures is how many iterations in a row may fail.
const MaxFailures = 5

// keptDurations is how many durations of iterations a state holds.
const keptDurations = 100

// State is the content of state.json.
type State struct {
	Version int    `json:"version"`
	Name    string `json:"worker_name"`
	// Command is the agent and its arguments.
	Command []string `json:"command"`
	// PromptFile is absolute. It is read anew for each iteration.
	PromptFile string `json:"prompt_file"`
	// MaxIterations is how many iterations there are at most.
	MaxIterations int `json:"max_iterations"`
	// NoProgress is after how many iterations without progress the loop is paused, Still how
	// many there are; 0: it is not.
	NoProgress int `json:"no_progress,omitempty"`
	Still      int `json:"iterations_without_progress,omitempty"`
	// MaxTime is how long the iterations may take together, TimeUsed how long they took; 0: there
	// is no limit.
	MaxTime  Seconds `json:"max_time,omitempty"`
	TimeUsed Seconds `json:"time_used,omitempty"`
	// MaxPerHour is how many iterations may begin in an hour, and Starts when those of the last
	// hour began; 0: there is no limit.
	MaxPerHour int         `json:"max_per_hour,omitempty"`
	Starts     []time.Time `json:"last_starts,omitempty"`
	// Inactivity is how long an agent may write nothing; 0 means no limit.
	Inactivity Seconds `json:"inactivity_timeout"`
	// DonePattern is a regular expression that ends the loop; it may be empty.
	DonePattern string `json:"done_pattern,omitempty"`
	// DoneAtOnce ends the agent when the pattern appears, not only the loop after
	// the iteration.
	DoneAtOnce bool `json:"check_done_continuous"`
	// MaxContext is how much of its context an agent may use, in percent; 0 means all.
	MaxContext int `json:"max_context,omitempty"`
	// ReadyPattern is a regular expression for output of an agent that is ready for the
	// prompt; empty means the known patterns.
	ReadyPattern string `json:"ready_pattern,omitempty"`
	// Continue has each iteration continue with the agent's conversation of the one before,
	// ContinueOnce only the next one. Session is that conversation; empty: it is not known.
	Continue     bool   `json:"continue,omitempty"`
	ContinueOnce bool   `json:"continue_once,omitempty"`
	Session      string `json:"session,omitempty"`
	// Headless says that the agent gets the prompt without its terminal, and ends each
	// iteration by its exit.
	Headless bool `json:"headless,omitempty"`
	// Profile is the name of the agent's profile, or "none"; empty: that of its command.
	Profile string `json:"profile,omitempty"`

	Status Status `json:"status"`
	// ExitReason is set when the loop has ended, or an iteration was ended early.
	ExitReason Reason `json:"exit_reason,omitempty"`
	// Dialog is the question for which the agent waits for a person, or empty.
	Dialog string `json:"dialog,omitempty"`
	// Choices are the answers that the dialog offers, as far as they are known.
	Choices []profile.Choice `json:"dialog_choices,omitempty"`
	// LimitUntil is the end of the usage limit in Limit, or of MaxPerHour if LimitHourly says
	// so; zero if the loop waits for none. LimitWaited says that the last iteration ended by one.
	LimitUntil  time.Time `json:"limit_until,omitzero"`
	Limit       string    `json:"limit,omitempty"`
	LimitWaited bool      `json:"limit_waited,omitempty"`
	LimitHourly bool      `json:"limit_hourly,omitempty"`
	Started     time.Time `json:"started"`
	// LogBegins is where the log of this loop begins in the file, in bytes: before that it is of earlier
	// loops of the name.
	LogBegins int64 `json:"log_begins,omitempty"`
	// Iteration counts from 1. It is the open iteration, or the last that was.
	Iteration int `json:"current_iteration"`
	// IterationStarted is zero for one that has not been started yet,
	// IterationEnded for an open one.
	IterationStarted time.Time `json:"last_iteration_started,omitzero"`
	IterationEnded   time.Time `json:"last_iteration_ended,omitzero"`
	// Durations are how long the last iterations took, the newest last.
	Durations []Seconds `json:"iteration_durations"`
	// Failures counts the iterations that failed one after another, TotalFailures
	// all of them.
	Failures      int `json:"consecutive_failures"`
	TotalFailures int `json:"total_failures"`
}

// Open reports whether an iteration has no outcome yet.
func (s *State) Open() bool { return s.IterationEnded.IsZero() }

// over reports whether the loop has come to its end.
func (s *State) over() bool { return s.Status != Running && s.Status != Paused }

// Complete reports whether there is no iteration left.
func (s *State) Complete() bool { return !s.Open() && s.Iteration >= s.MaxIterations }

// Average is how long an iteration took on average, 0 if none has ended.
func (s *State) Average() time.Duration {
	if len(s.Durations) == 0 {
		return 0
	}
	var sum Seconds
	for _, d := range s.Durations {
		sum += d
	}
	return time.Duration(sum) / time.Duration(len(s.Durations))
}

func (s *State) begin(now time.Time) {
	s.Dialog, s.Choices = "", nil
	if !s.Open() {
		s.Iteration++
	}
	s.IterationStarted, s.IterationEnded = now, time.Time{}
}

func (s *State) close(now time.Time) {
	s.Durations = append(s.Durations, Seconds(now.Sub(s.IterationStarted)))
	s.Durations = s.Durations[max(0, len(s.Durations)-keptDurations):]
	s.IterationEnded = now
}

func (s *State) end(status Status, reason Reason) { s.Status, s.ExitReason = status, reason }

// Seconds is a duration that is a number of seconds in JSON.
type Seconds time.Duration

// MarshalJSON rounds to milliseconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Millisecond).Seconds())
}

func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*s = Seconds(f * float64(time.Second))
	return nil
}
