package team

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// How long an agent can show no sign of life.
const (
	// BeatEvery is how often an agent should send a heartbeat.
	BeatEvery = time.Minute
	// silence is the time without a sign of life after which an agent is inactive.
	silence = 2 * BeatEvery
)

// Signs are facts about the worker of an agent. The zero value means that nothing is known.
type Signs struct {
	// Gone says that its process has ended, Reason describes the end in one line.
	Gone   bool
	Reason string
	// Output is when it last wrote something.
	Output time.Time
	// Shows is [Active] or [Idle] if its screen shows that, else empty. An agent that shows
	// a question is active.
	Shows registry.AgentStatus
}

// Health is the judgement on the signs of life of an agent.
type Health struct {
	// Status is its status by the facts, which may not be recorded yet.
	Status registry.AgentStatus
	// Active says that it is active or idle.
	Active bool
	// Seen is its last sign of life, and Age how long ago that is.
	Seen time.Time
	Age  time.Duration
	// Healthy says that the last sign is younger than [BeatEvery].
	Healthy bool
	// Misses is how many heartbeats in a row the agent has missed.
	Misses int
	// Error is what went wrong last, in one line, or empty.
	Error string
}

// Judge returns the health of an agent. [Sweep] uses it too, so a reader sees what the next
// change will record.
func Judge(a *registry.Agent, s Signs, now time.Time) Health {
	h := Health{Status: a.Status, Seen: a.Heartbeat, Error: a.LastError}
	if s.Output.After(h.Seen) {
		h.Seen = s.Output
	}
	h.Age = max(0, now.Sub(h.Seen))
	h.Healthy = h.Age < BeatEvery
	gone := s.Gone || !a.Lost.IsZero()
	switch a.Status {
	case registry.AgentSpawning, registry.AgentIdle:
		switch {
		case gone:
			h.Status = registry.AgentInactive
		case a.Status == registry.AgentIdle && s.Shows != "":
			h.Status = s.Shows
		}
	case registry.AgentActive, registry.AgentInactive:
		h.Status = registry.AgentActive
		switch {
		case gone:
			h.Status = registry.AgentInactive
		case s.Shows != "":
			h.Status = s.Shows // it may well be silent
		case h.Age >= silence:
			h.Status = registry.AgentInactive
		}
	case registry.AgentShuttingDown, registry.AgentTerminated:
	}
	if h.Status == registry.AgentActive || h.Status == registry.AgentInactive {
		h.Misses = int(h.Age / BeatEvery)
	}
	h.Active = h.Status == registry.AgentActive || h.Status == registry.AgentIdle
	switch {
	case h.Status != registry.AgentInactive:
	case s.Gone && a.Lost.IsZero():
		h.Error = endText(s.Reason)
	case a.Status == registry.AgentActive && !gone:
		h.Error = fmt.Sprintf("Heartbeat timeout: %ds since last heartbeat", int(h.Age.Seconds()))
	}
	return h
}
