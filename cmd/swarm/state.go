package main

import (
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
)

// stateJSON is what an agent does.
type stateJSON struct {
	State    string           `json:"state"`
	Source   *string          `json:"source"`
	Since    *string          `json:"since"`
	Profile  string           `json:"profile"`
	Question *string          `json:"question"`
	Choices  []profile.Choice `json:"choices"`
	Broken   *string          `json:"broken"`
}

func stateJSONOf(s *host.AgentState) *stateJSON {
	if s == nil {
		return nil
	}
	return &stateJSON{
		State: string(s.State), Source: orNull(s.Source), Since: timeJSON(s.Since), Profile: s.Profile,
		Question: orNull(s.Question), Choices: append([]profile.Choice{}, s.Choices...), Broken: orNull(s.Broken),
	}
}

// stateText is "idle for 5m", or "asks: Proceed? (1 Yes, 2 No)"; empty for a worker
// without a state.
func stateText(s *host.AgentState, now time.Time) string {
	if s == nil {
		return ""
	}
	text := ""
	switch s.State {
	case profile.Blocked:
		text = asksText(s.Question, s.Choices)
	case profile.Unknown:
		text = "state unknown"
	case profile.Working, profile.Idle:
		text = string(s.State)
		if !s.Since.IsZero() {
			text += " for " + formatAge(now.Sub(s.Since))
		}
	}
	if s.Broken != "" {
		text += ", shows an error: " + s.Broken
	}
	return text
}

// asksText is "asks: Proceed? (1 Yes, 2 No)".
func asksText(question string, choices []profile.Choice) string {
	return "asks: " + deliver.Dialog(question, choices)
}
