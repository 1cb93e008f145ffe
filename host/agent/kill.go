package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

type KillRequest struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team the agent belongs to" schema:"min=1"`
	// AgentID is its id or name.
	AgentID string `json:"agentId" jsonschema:"ID of the agent to terminate" schema:"min=1"`
	// Force ends it at once, whatever its status.
	Force  bool   `json:"force,omitempty" jsonschema:"Skip graceful shutdown and force-kill immediately" schema:"default=false"`
	Reason string `json:"reason,omitempty" jsonschema:"Reason for termination (sent to agent in shutdown request)"`
	// Progress, if it is not nil, is called when the end of a process begins and when it is
	// complete.
	Progress func(kill.Event) `json:"-"`
}

// Killed is the state of the end of an agent, as the tool kill-agent returns it.
type Killed struct {
	Agent string                 `json:"-"`
	Phase registry.ShutdownPhase `json:"phase" jsonschema:"Phase of the shutdown; requested if the call was refused" schema:"enum=requested|approved|rejected|confirmed|force_killed"`
	// Reason is the agent's answer, or empty.
	Reason          string   `json:"-"`
	ReassignedTasks []string `json:"reassignedTasks" jsonschema:"Task IDs that were reassigned"`
	Warnings        []string `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`
	// AfterAnswer ends the worker that the caller itself runs in, if the agent is
	// that; nil: there is nothing more to do.
	AfterAnswer func(context.Context) error `json:"-"`
}

// Kill asks an agent to end, or with Force ends it. If two callers force the end at the
// same time, one wins, and the other gets a [team.TerminatedError]. An agent whose process
// is gone can't answer; its phase is [registry.ShutdownConfirmed] at once.
//
// A forced end is carried out even if ctx ends. A process that can't be ended is a warning,
// and the agent is terminated all the same. A database that can't be written is a warning
// too: the next call that can write to it terminates the agent.
func Kill(ctx context.Context, h *host.Host, req KillRequest) (Killed, error) {
	caller, warnings, err := begin(ctx, h, req.TeamName)
	if err != nil && (!req.Force || !isUnwritable(err)) {
		return Killed{}, err
	}
	k := killRun{h: h, req: req, caller: caller, out: Killed{Warnings: warnings}}
	if req.Force {
		err = k.force(context.WithoutCancel(ctx))
	} else {
		err = k.ask(ctx)
	}
	if err != nil {
		return Killed{}, err
	}
	return k.out, nil
}

type killRun struct {
	h      *host.Host
	req    KillRequest
	caller team.Caller
	out    Killed
	// won says that this call released the agent.
	won bool
}

// ask begins the negotiation, or completes the end of an agent whose process is gone.
func (k *killRun) ask(ctx context.Context) error {
	err := k.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		a, err := team.Target(ctx, tx, k.caller, k.req.TeamName, k.req.AgentID)
		if err != nil {
			return err
		}
		gone, err := isGone(ctx, tx, &a)
		if err != nil {
			return err
		}
		if gone {
			if err := team.Touch(ctx, tx, k.caller, now); err != nil {
				return err
			}
			return k.release(ctx, tx, &a, registry.ShutdownConfirmed, now)
		}
		a, s, err := team.Ask(ctx, tx, k.caller, k.req.TeamName, k.req.AgentID, k.req.Reason, now)
		k.out.Agent, k.out.Phase, k.out.Reason = a.ID, s.Phase, s.Response
		return err
	})
	if err == nil && k.won {
		k.out.Warnings = idle(ctx, k.h, k.req.TeamName, k.out.Warnings)
	}
	return err
}

func isGone(ctx context.Context, tx *registry.Tx, a *registry.Agent) (bool, error) {
	if !a.Lost.IsZero() {
		return true, nil
	}
	rec, err := tx.Get(ctx, a.WorkerID)
	if errors.Is(err, registry.ErrNotFound) {
		return true, nil
	}
	return rec.State == registry.Stopped, err
}

// release terminates an agent for the caller. If another call was faster, the error is a
// [team.TerminatedError] that names the agent as the caller did.
func (k *killRun) release(ctx context.Context, tx *registry.Tx, a *registry.Agent, phase registry.ShutdownPhase, now time.Time) error {
	requester, err := team.Member(ctx, tx, k.caller, k.req.TeamName)
	if err != nil {
		return err
	}
	r, err := release(ctx, tx, a, team.Departure{Phase: phase, Requester: requester, Reason: k.req.Reason}, now)
	if hasEnded(err) {
		return &team.TerminatedError{Agent: k.req.AgentID}
	}
	if err != nil {
		return err
	}
	k.won = true
	k.out.Agent, k.out.Phase, k.out.ReassignedTasks = a.ID, phase, r.Reassigned
	k.out.Warnings = append(k.out.Warnings, r.Warnings...)
	return nil
}

// claim takes the end of an agent whose process this call has ended, but which a call that
// noticed it recorded first. It returns over, the error of the release, if another call has
// forced the end.
func (k *killRun) claim(ctx context.Context, a *registry.Agent, over error) error {
	claimed := false
	err := k.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		requester, err := team.Member(ctx, tx, k.caller, k.req.TeamName)
		if err != nil {
			return err
		}
		var r team.Released
		r, claimed, err = team.Claim(ctx, tx, a.ID, team.Departure{Phase: registry.ShutdownForceKilled, Requester: requester, Reason: k.req.Reason})
		k.out.Agent, k.out.Phase, k.out.ReassignedTasks = a.ID, registry.ShutdownForceKilled, r.Reassigned
		return err
	})
	if err == nil && !claimed {
		return over
	}
	return err
}
