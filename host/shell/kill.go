package shell

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// none is the signal of a kill that sent none.
	none = "none"
	// terminated gets a shell that ended right before the signal.
	terminated = "Process already terminated"
)

type KillRequest struct {
	ID string
	// Signal is SIGTERM, SIGKILL or SIGINT, and goes to all processes of the shell.
	Signal string
	// Force says to end with SIGKILL what is alive after Timeout.
	Force   bool
	Timeout time.Duration
	// Progress is notified when the kill begins and ends; may be nil.
	Progress func(kill.Event)
}

// KillResult is the answer to a [KillRequest], in the words of the tool.
type KillResult struct {
	// Shell is the present shell; zero if no shell has that id.
	Shell   Shell
	Success bool
	// SignalSent is the signal that was asked for, or "none" if the shell had
	// ended.
	SignalSent string
	// ForceKilled is nil if nothing was signalled.
	ForceKilled *bool
	// ExitCode is nil if it is not known, or if the shell had ended.
	ExitCode *int
	// Problem is what the answer has as its error, or empty.
	Problem string
	// AfterAnswer ends the shell if the caller itself runs in it, and may not return;
	// nil otherwise. It is called once the caller has the answer.
	AfterAnswer func(context.Context) error
}

// Kill ends a shell and everything it started. Failures of the shell are in
// the result; an error has another cause. A shell that survives because it was not
// forced keeps running and can be killed again.
func Kill(ctx context.Context, h *host.Host, s Session, req KillRequest) (KillResult, error) {
	res := KillResult{SignalSent: req.Signal}
	w, err := find(ctx, h, s, req.ID)
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		res.Problem = missing.Error()
		return res, nil
	}
	if err != nil {
		return res, err
	}
	if res.Shell = shellOf(h, w); res.Shell.Status != Running {
		res.Success, res.SignalSent = true, none
		res.Problem = "Shell already " + string(res.Shell.Status)
		return res, nil
	}
	kill := func(ctx context.Context) ([]kill.Outcome, error) {
		return h.Kill().Kill(ctx, worker.Selection{Names: []string{w.ID}}, kill.Request{
			Signal: req.Signal, Grace: &req.Timeout, Force: &req.Force, Progress: req.Progress,
		})
	}
	if caller, err := h.Callers().Caller(ctx); err == nil && caller.WorkerID == w.ID {
		res.Success = true
		res.AfterAnswer = func(ctx context.Context) error {
			_, err := kill(ctx)
			return err
		}
		return res, nil
	}
	outs, err := kill(ctx)
	if errors.Is(err, store.ErrNotFound) {
		// It ended and was removed since it was looked at.
		res.Success, res.Problem = true, terminated
		return res, nil
	}
	if err != nil {
		return res, err
	}
	return res.with(h, outs[0], req), nil
}

// with is the answer once it is known what came of the kill.
func (res KillResult) with(h *host.Host, out kill.Outcome, req KillRequest) KillResult {
	res.Shell = shellOf(h, out.Worker)
	switch {
	case out.Err == nil && out.Result.Signal == "":
		res.Success, res.Problem = true, terminated
	case out.Err == nil:
		res.Success, res.ExitCode = true, res.Shell.ExitCode
		res.ForceKilled = new(out.Result.Forced && req.Signal != "SIGKILL")
	case errors.Is(out.Err, swarm.ErrSurvivors) && !req.Force:
		res.ForceKilled, res.Problem = new(false), "Process did not respond to "+req.Signal
	default:
		res.Problem = out.Err.Error()
		if out.Result.Signal != "" {
			res.ForceKilled = new(out.Result.Forced)
		}
	}
	return res
}
