package team

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// Touch records a sign of life of the caller, if it is an agent. Every change by an agent
// calls it, and so does reading its inbox. The error is [ErrInactive] if the agent's
// process is gone: a holder of its token must not take tasks that would never be given
// back.
func Touch(ctx context.Context, tx *registry.Tx, caller Caller, now time.Time) error {
	if caller.Agent == "" {
		return nil
	}
	a, err := tx.Agent(ctx, caller.Agent)
	if err != nil {
		return err
	}
	if !a.Lost.IsZero() && a.Status != registry.AgentTerminated {
		return ErrInactive
	}
	if a.Status == registry.AgentInactive {
		a.Status = registry.AgentActive
		if err := tx.PutAgent(ctx, &a); err != nil {
			return err
		}
	}
	return tx.Beat(ctx, a.ID, now)
}

// Beat is a heartbeat of an agent: its own, or that of another one if the caller has the
// leader's right. The argument who is an id or a name; empty means the caller. The status
// is [Active], [Idle] or empty, which changes nothing. For an agent that has ended, the
// error is [ErrHeartbeatTerminated] or [ErrInactive].
func Beat(ctx context.Context, tx *registry.Tx, caller Caller, teamName, who string, status registry.AgentStatus, now time.Time) (registry.Agent, error) {
	member, err := Member(ctx, tx, caller, teamName)
	if err != nil {
		return registry.Agent{}, err
	}
	if status != "" && status != registry.AgentActive && status != registry.AgentIdle {
		return registry.Agent{}, refuse(ErrInvalid, "Status '%s' is not one of %s, %s", status, registry.AgentActive, registry.AgentIdle)
	}
	if who == "" {
		who = member
	}
	a, err := Find(ctx, tx, teamName, who)
	if err != nil {
		return registry.Agent{}, err
	}
	if a.ID != member {
		if err := Lead(ctx, tx, caller, teamName, "heartbeat for other agents"); err != nil {
			return registry.Agent{}, err
		}
	}
	switch a.Status {
	case registry.AgentTerminated:
		return a, ErrHeartbeatTerminated
	case registry.AgentInactive:
		if !a.Lost.IsZero() {
			return a, ErrInactive
		}
		a.Status = registry.AgentActive
		if status != "" {
			a.Status = status
		}
	case registry.AgentActive, registry.AgentIdle:
		if status != "" {
			a.Status = status
		}
	case registry.AgentShuttingDown, registry.AgentSpawning:
		// This becomes its status if it does not end, or once its worker runs.
		if status != "" {
			a.Before = status
		}
	}
	if now.After(a.Heartbeat) {
		a.Heartbeat = now
	}
	return a, tx.PutAgent(ctx, &a)
}
