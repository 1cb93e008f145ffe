package worker

import (
	"time"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/team"
)

// The sources of an [AgentState].
const (
	// SourceHook: its hooks said so.
	SourceHook = "hook"
	// SourceScreen: its screen shows it.
	SourceScreen = "screen"
	// SourceProcess: it works without a screen as long as its process lives.
	SourceProcess = "process"
)

// AgentState is the activity of a worker with a profile. It is read off text that the worker
// wrote, or its hooks, so it is for people and for refusing to type; it is no reason to
// answer anything.
type AgentState struct {
	// Profile is the name of the profile.
	Profile string
	State   profile.State
	// Source says how it is known; empty if it is not.
	Source string
	// Since is a time since which the state has held; zero if not known.
	Since time.Time
	// Question and Choices are set if State is [profile.Blocked], as far as they are
	// known.
	Question string
	Choices  []profile.Choice
	// Dialog is the whole of what a blocked agent asks, if its screen shows it.
	Dialog profile.Dialog
	// Broken is the text of an error that the screen shows.
	Broken string
}

// Shows returns what a state means for an agent of a team; empty: nothing.
func (s *AgentState) Shows() team.Status {
	switch {
	case s == nil:
		return ""
	case s.State == profile.Idle:
		return team.Idle
	case s.State == profile.Working || s.State == profile.Blocked:
		return team.Active
	default:
		return ""
	}
}

// Alive reports whether the main process of a worker runs: no state outlives it.
func (w *Worker) Alive() bool { return w.Status == StatusRunning && (w.PID != 0 || w.Reason == "") }
