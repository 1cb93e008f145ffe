package view

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/humane"
)

// StateJSON is what an agent does.
type StateJSON struct {
	State    string           `json:"state"`
	Source   *string          `json:"source"`
	Since    *string          `json:"since"`
	Profile  string           `json:"profile"`
	Question *string          `json:"question"`
	Choices  []profile.Choice `json:"choices"`
	Broken   *string          `json:"broken"`
}

func StateJSONOf(s *host.AgentState) *StateJSON {
	if s == nil {
		return nil
	}
	return &StateJSON{
		State: string(s.State), Source: output.OrNull(s.Source), Since: output.TimeJSON(s.Since), Profile: s.Profile,
		Question: output.OrNull(s.Question), Choices: append([]profile.Choice{}, s.Choices...), Broken: output.OrNull(s.Broken),
	}
}

// StateText is "idle for 5m", or "asks: Proceed? (1 Yes, 2 No)"; empty for a worker
// without a state.
func StateText(s *host.AgentState, now time.Time) string {
	if s == nil {
		return ""
	}
	text := ""
	switch s.State {
	case profile.Blocked:
		text = AsksText(s.Question, s.Choices)
	case profile.Unknown:
		text = "state unknown"
	case profile.Working, profile.Idle:
		text = string(s.State)
		if !s.Since.IsZero() {
			text += " for " + humane.Age(now.Sub(s.Since))
		}
	}
	if s.Broken != "" {
		text += ", shows an error: " + s.Broken
	}
	return text
}

// AsksText is "asks: Proceed? (1 Yes, 2 No)".
func AsksText(question string, choices []profile.Choice) string {
	return "asks: " + deliver.Dialog(question, choices)
}

// waitUnknown is the exit code of wait for a worker whose exit code is unknown.
const waitUnknown = 125

// ExitCode returns the worker's exit code as a shell reports it.
func ExitCode(w host.Worker) int {
	if w.Status != host.StatusStopped || w.Exit == nil {
		return waitUnknown
	}
	if w.Exit.Signal != "" {
		if n := unix.SignalNum(w.Exit.Signal); n != 0 {
			return 128 + int(n)
		}
		return waitUnknown
	}
	if w.Exit.Code < 0 {
		return waitUnknown
	}
	return w.Exit.Code
}
