package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// RespondRequest is an agent's answer to the request that it ends.
type RespondRequest struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	Approve  bool   `json:"approve" jsonschema:"Agree to shut down"`
	// Ready has no meaning without Approve.
	Ready  bool   `json:"ready" jsonschema:"End now; false: finish work first" schema:"default=true"`
	Reason string `json:"reason,omitempty" jsonschema:"Reason for the leader"`
}

// Responded is the result of an answer, as the tool respond-shutdown returns it.
type Responded struct {
	Phase           registry.ShutdownPhase `json:"phase,omitempty" jsonschema:"Phase of the shutdown; absent on an error" schema:"enum=confirmed|approved|rejected"`
	ReassignedTasks []string               `json:"reassignedTasks" jsonschema:"Task IDs that were reassigned"`
	Warnings        []string               `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`
	// AfterAnswer does the work that must not delay the answer; nil means that there is
	// none. The worker of the agent has at least a second to read the answer.
	AfterAnswer func(context.Context) error `json:"-"`
}

// Respond answers for the calling agent; no other caller can.
//
// The worker of an agent that is ready is ended, and the phase is [registry.ShutdownConfirmed]. If the
// agent calls from inside that worker, the completion is recorded by the shim before the
// team learns of it: so no terminated agent continues to live.
func Respond(ctx context.Context, h *host.Host, req RespondRequest) (Responded, error) {
	caller, warnings, err := begin(ctx, h, req.TeamName)
	if err != nil {
		return Responded{}, err
	}
	r := respondRun{h: h, req: req, caller: caller, out: Responded{Warnings: warnings}}
	if err := r.answer(ctx); err != nil {
		return Responded{}, err
	}
	if req.Approve && req.Ready {
		// The answer can't be taken back.
		ctx = context.WithoutCancel(ctx)
		if h.Callers().ID() == r.agent.WorkerID {
			err = r.leave(ctx)
		} else {
			err = r.end(ctx)
		}
	}
	if err != nil {
		return Responded{}, err
	}
	return r.out, nil
}

type respondRun struct {
	h      *host.Host
	req    RespondRequest
	caller team.Caller
	agent  registry.Agent
	out    Responded
}

func (r *respondRun) answer(ctx context.Context) error {
	return r.h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		var s registry.Shutdown
		var err error
		if r.req.Approve {
			r.agent, s, err = team.Approve(ctx, tx, r.caller, r.req.TeamName, r.req.Ready, r.req.Reason, time.Now())
		} else {
			r.agent, s, err = team.Reject(ctx, tx, r.caller, r.req.TeamName, r.req.Reason, time.Now())
		}
		r.out.Phase = s.Phase
		return err
	})
}

// leave completes the worker of the agent, in which the caller runs. Once the shim has
// recorded that, the agent has ended, as with any end of a worker.
func (r *respondRun) leave(ctx context.Context) error {
	summary := "shutdown approved"
	if r.req.Reason != "" {
		summary += ": " + r.req.Reason
	}
	_, err := r.h.Complete(ctx, host.CompleteRequest{
		Summary: summary,
		Warn:    func(w worker.Warning) { r.out.Warnings = append(r.out.Warnings, w.Text) },
	})
	// A worker that is being ended already ends.
	kept := err == nil || errors.Is(err, swarm.ErrTooLate)
	if err := r.h.Store().Change(ctx, r.released); err != nil {
		return err
	}
	r.out.AfterAnswer = func(ctx context.Context) error {
		if kept {
			return r.h.TeamServers().StopIdle(ctx, r.req.TeamName)
		}
		return endOwn(ctx, r.h, r.req.TeamName, r.agent.WorkerID)
	}
	return nil
}

// end ends the worker of the agent from outside.
func (r *respondRun) end(ctx context.Context) error {
	outs, err := r.h.Kill().Kill(ctx, worker.Selection{Names: []string{r.agent.WorkerID}}, kill.Request{
		Allowed: true,
		Force:   new(true),
		Recorded: func(ctx context.Context, tx *registry.Tx, _ registry.Record) error {
			return r.released(ctx, tx)
		},
		Warn: func(w worker.Warning) { r.out.Warnings = append(r.out.Warnings, w.Text) },
	})
	if !errors.Is(err, store.ErrNotFound) {
		r.out.Warnings = warned(r.out.Warnings, err)
	}
	for _, out := range outs {
		r.out.Warnings = warned(r.out.Warnings, out.Err)
	}
	if err := r.h.Store().Change(ctx, r.released); err != nil {
		return err
	}
	r.out.Warnings = idle(ctx, r.h, r.req.TeamName, r.out.Warnings)
	return nil
}

// released terminates the agent, if that was not done, and reads the result.
func (r *respondRun) released(ctx context.Context, tx *registry.Tx) error {
	out, err := release(ctx, tx, &r.agent, team.Departure{Phase: registry.ShutdownConfirmed}, time.Now())
	if errors.Is(err, errMoved) {
		return team.ErrNoRequest // it was called off with the new start
	}
	if err != nil && !hasEnded(err) {
		return err
	}
	r.out.Warnings = append(r.out.Warnings, out.Warnings...)
	s, err := tx.LastShutdown(ctx, r.agent.ID)
	if err == nil && s.Phase != registry.ShutdownConfirmed {
		return &team.TerminatedError{Agent: r.agent.ID} // by force, which was quicker
	}
	r.out.Phase, r.out.ReassignedTasks = s.Phase, s.Reassigned
	return err
}
