package team

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Departure describes the end of an agent.
type Departure struct {
	// Phase is [Confirmed] for an agent that approved or was gone, [ForceKilled] for one
	// that was not asked.
	Phase registry.ShutdownPhase
	// Requester is the member that requested it, and Reason its reason; they may be empty.
	// A forced end without requester was noticed by a call that did not force it: the call
	// that did takes it with [Claim].
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
func Release(ctx context.Context, tx *registry.Tx, agentID string, l Departure, now time.Time) (Released, error) {
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
	s.Phase, s.Forced, s.Completed, s.Reassigned = l.Phase, l.Phase == registry.ShutdownForceKilled, now, r.Reassigned
	s.Unclaimed = s.Forced && l.Requester == ""
	put := tx.InsertShutdown
	if open {
		put = tx.PutShutdown
	}
	if err := put(ctx, &s); err != nil {
		return Released{}, err
	}
	if l.Phase == registry.ShutdownForceKilled {
		a.LastError = forceKilled(s.Reason)
	}
	a.Status, a.Before, a.Terminated, a.TokenHash = registry.AgentTerminated, "", now, ""
	if err := tx.PutAgent(ctx, &a); err != nil {
		return Released{}, err
	}
	// A caller that forces the end knows of it, and so does one that asked an agent that
	// was gone.
	if open && l.Phase == registry.ShutdownConfirmed {
		if err := answer(ctx, tx, &s, now); err != nil {
			return Released{}, err
		}
	}
	r.Agent = a
	return r, nil
}

// Claim enters the requester and the reason of a forced end into the end of an agent that
// another call noticed and recorded. It reports whether the end was unclaimed: there is one
// claim.
func Claim(ctx context.Context, tx *registry.Tx, agentID string, l Departure) (r Released, claimed bool, err error) {
	s, err := tx.LastShutdown(ctx, agentID)
	if errors.Is(err, registry.ErrNotFound) || err == nil && !s.Unclaimed {
		return Released{}, false, nil
	}
	if err == nil {
		r.Agent, err = tx.Agent(ctx, agentID)
	}
	if err != nil {
		return Released{}, false, err
	}
	s.Unclaimed, s.Requester = false, l.Requester
	if l.Reason != "" {
		s.Reason = clean(l.Reason)
	}
	r.Agent.LastError = forceKilled(s.Reason)
	if r.Reassigned = s.Reassigned; r.Reassigned == nil {
		r.Reassigned = []string{}
	}
	err = errors.Join(tx.PutShutdown(ctx, &s), tx.PutAgent(ctx, &r.Agent))
	return r, err == nil, err
}

// forceKilled is the error of an agent whose end was forced, for a reason that may be empty.
func forceKilled(reason string) string {
	if reason == "" {
		return "Force killed"
	}
	return "Force killed: " + reason
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
