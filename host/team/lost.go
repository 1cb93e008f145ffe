package team

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

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
			r, err = Release(ctx, tx, a.ID, Departure{Phase: registry.ShutdownForceKilled}, now)
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
	if a.Status == registry.AgentShuttingDown {
		r, err := Release(ctx, tx, agentID, Departure{Phase: registry.ShutdownConfirmed}, now)
		return r.Warnings, err
	}
	reason = endText(reason)
	ids, warnings, err := takeBack(ctx, tx, &a, now)
	if err != nil {
		return nil, err
	}
	a.Status, a.Before, a.Lost, a.LastError = registry.AgentInactive, "", now, reason
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
