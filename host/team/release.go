package team

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Leaving describes the end of an agent.
type Leaving struct {
	// Phase is [Confirmed] for an agent that approved or was gone, [ForceKilled] for one
	// that was not asked.
	Phase Phase
	// Requester is the member that requested it, and Reason its reason; they may be empty.
	Requester, Reason string
}

// Released holds the things that an agent gave back.
type Released struct {
	// Agent is the agent as it is now.
	Agent registry.Agent
	// Reassigned are the ids of the tasks that it had. It is never nil.
	Reassigned []string
	Warnings   []string
}

// Release is the end of an agent: its tasks are pending again, its colour and its name
// free, its token is worth nothing, its shutdown is complete, and it is no longer a member.
// If tasks can't be given back, that is a warning, and the rest is done. An agent is
// released once: a second caller gets [TerminatedError]. The caller ends its process.
func Release(ctx context.Context, tx *registry.Tx, agentID string, l Leaving, now time.Time) (Released, error) {
	a, err := live(ctx, tx, agentID)
	if err != nil {
		return Released{}, err
	}
	r := Released{}
	if r.Reassigned, r.Warnings, err = takeBack(ctx, tx, &a, now); err != nil {
		return Released{}, err
	}
	if err := tx.Unassign(ctx, registry.Membership{Team: a.Team, Member: a.ID}); err != nil {
		return Released{}, err
	}
	s, open, err := request(ctx, tx, a.ID)
	if err != nil {
		return Released{}, err
	}
	if !open {
		s = registry.Shutdown{Team: a.Team, AgentID: a.ID, Requested: now}
	}
	if l.Requester != "" {
		s.Requester = l.Requester
	}
	if l.Reason != "" {
		s.Reason = clean(l.Reason)
	}
	s.Phase, s.Forced, s.Completed, s.Reassigned = l.Phase, l.Phase == ForceKilled, now, r.Reassigned
	put := tx.InsertShutdown
	if open {
		put = tx.PutShutdown
	}
	if err := put(ctx, &s); err != nil {
		return Released{}, err
	}
	if l.Phase == ForceKilled {
		a.LastError = "Force killed"
		if s.Reason != "" {
			a.LastError += ": " + s.Reason
		}
	}
	a.Status, a.Before, a.Terminated, a.TokenHash = Terminated, "", now, ""
	if err := tx.PutAgent(ctx, &a); err != nil {
		return Released{}, err
	}
	// A caller that forces the end knows of it, and so does one that asked an agent that
	// was gone.
	if open && l.Phase == Confirmed {
		if err := answer(ctx, tx, &s, now); err != nil {
			return Released{}, err
		}
	}
	r.Agent = a
	return r, nil
}

// takeBack gives back the tasks of an agent. A failure is a warning and changes
// nothing.
func takeBack(ctx context.Context, tx *registry.Tx, a *registry.Agent, now time.Time) (ids, warnings []string, err error) {
	failed, err := tx.Savepoint(ctx, func(ctx context.Context) (err error) {
		ids, err = giveBack(ctx, tx, a.Team, a.ID, now)
		return err
	})
	if failed != nil {
		ids, warnings = []string{}, []string{fmt.Sprintf("cannot reassign the tasks of agent '%s': %v", a.ID, failed)}
	}
	return ids, warnings, err
}
