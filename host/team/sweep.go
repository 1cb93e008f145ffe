package team

import (
	"context"
	"fmt"
	"strings"
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
	Shows Status
}

// Health is the judgement on the signs of life of an agent.
type Health struct {
	// Status is its status by the facts, which may not be recorded yet.
	Status Status
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
	case Spawning, Idle:
		switch {
		case gone:
			h.Status = Inactive
		case a.Status == Idle && s.Shows != "":
			h.Status = s.Shows
		}
	case Active, Inactive:
		h.Status = Active
		switch {
		case gone:
			h.Status = Inactive
		case s.Shows != "":
			h.Status = s.Shows // it may well be silent
		case h.Age >= silence:
			h.Status = Inactive
		}
	case ShuttingDown, Terminated:
	}
	if h.Status == Active || h.Status == Inactive {
		h.Misses = int(h.Age / BeatEvery)
	}
	h.Active = h.Status == Active || h.Status == Idle
	switch {
	case h.Status != Inactive:
	case s.Gone && a.Lost.IsZero():
		h.Error = endText(s.Reason)
	case a.Status == Active && !gone:
		h.Error = fmt.Sprintf("Heartbeat timeout: %ds since last heartbeat", int(h.Age.Seconds()))
	}
	return h
}

// Sweep records the status of the agents of a team, or of all teams if the name is empty.
// The keys of signs are the ids of their workers; agents without an entry are skipped. Each
// agent that became inactive is reported to the leader once; only agents whose process is
// gone lose their tasks.
func Sweep(ctx context.Context, tx *registry.Tx, teamName string, signs map[string]Signs, now time.Time) (warnings []string, err error) {
	agents, warnings, err := tx.Agents(ctx, registry.AgentQuery{Team: teamName, Live: true})
	if err != nil {
		return nil, err
	}
	for i := range agents {
		a := &agents[i]
		s, known := signs[a.WorkerID]
		if !known {
			continue
		}
		if s.Gone {
			more, err := Lost(ctx, tx, a.ID, s.Reason, now)
			if err != nil {
				return warnings, err
			}
			warnings = append(warnings, more...)
			continue
		}
		h := Judge(a, s, now)
		if h.Status == a.Status {
			continue
		}
		if s.Shows != "" && a.Status != Inactive {
			continue // a screen is read at each query
		}
		a.Status, a.LastError = h.Status, h.Error
		if h.Status == Inactive {
			if err := report(ctx, tx, a, a.LastError+". Its tasks stay with it.", now); err != nil {
				return warnings, err
			}
		}
		if err := tx.PutAgent(ctx, a); err != nil {
			return warnings, err
		}
	}
	return warnings, nil
}

// End describes the end of the worker of an agent.
type End struct {
	// Killed says that it was killed.
	Killed bool
	// Reason describes the end in one line.
	Reason string
}

// Ended records the effect of the end of a worker on its agent, in the transaction that
// records the end: the agent of a killed worker is terminated, any other is lost. It does
// nothing if there is no such agent, or if it has another worker now.
func Ended(ctx context.Context, tx *registry.Tx, workerID string, e End, now time.Time) (warnings []string, err error) {
	if workerID == "" {
		return nil, nil
	}
	agents, warnings, err := tx.Agents(ctx, registry.AgentQuery{WorkerID: workerID, Live: true})
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		var more []string
		if e.Killed {
			var r Released
			r, err = Release(ctx, tx, a.ID, Departure{Phase: ForceKilled}, now)
			more = r.Warnings
		} else {
			more, err = Lost(ctx, tx, a.ID, e.Reason, now)
		}
		if err != nil {
			return warnings, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// Lost records that the process of an agent ended by itself: it is inactive, its
// tasks are given back, and the leader is notified. An agent that was shutting down
// has done what it was asked for and is released. It does nothing the second time,
// nor to a terminated agent.
func Lost(ctx context.Context, tx *registry.Tx, agentID, reason string, now time.Time) (warnings []string, err error) {
	a, err := live(ctx, tx, agentID)
	if hasEnded(err) {
		return nil, nil
	}
	if err != nil || !a.Lost.IsZero() {
		return nil, err
	}
	if a.Status == ShuttingDown {
		r, err := Release(ctx, tx, agentID, Departure{Phase: Confirmed}, now)
		return r.Warnings, err
	}
	reason = endText(reason)
	ids, warnings, err := takeBack(ctx, tx, &a, now)
	if err != nil {
		return nil, err
	}
	a.Status, a.Before, a.Lost, a.LastError = Inactive, "", now, reason
	if err := tx.PutAgent(ctx, &a); err != nil {
		return warnings, err
	}
	given := "none"
	if len(ids) > 0 {
		given = strings.Join(ids, ", ")
	}
	return warnings, report(ctx, tx, &a, fmt.Sprintf("%s. Tasks reassigned: %s.", reason, given), now)
}

func endText(reason string) string {
	if reason == "" {
		return "its process ended"
	}
	return reason
}

func report(ctx context.Context, tx *registry.Tx, a *registry.Agent, why string, now time.Time) error {
	return tx.AddMessage(ctx, &registry.Message{
		Team: a.Team, Sender: system, Recipient: Leader, Type: registry.MessageSystem, Time: now,
		Body: fmt.Sprintf("Agent %s (%s) became inactive: %s", a.Name, a.ID, why),
	})
}
