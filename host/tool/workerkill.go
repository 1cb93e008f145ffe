package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

type WorkerKillInput struct {
	Name string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	// Force and Timeout override the worker's policy.
	Force   bool `json:"force" jsonschema:"Send SIGKILL to processes still alive after timeout" schema:"default=true"`
	Timeout int  `json:"timeout,omitempty" jsonschema:"Ms to wait before SIGKILL" schema:"over=0"`
}

type WorkerKillOutput struct {
	outcome
	SignalSent  string   `json:"signal_sent,omitempty" jsonschema:"Signal that was sent; absent if it had ended"`
	ForceKilled bool     `json:"force_killed,omitempty" jsonschema:"SIGKILL was needed"`
	Worker      *Worker  `json:"worker,omitempty" jsonschema:"The worker as it is now"`
	Warnings    []string `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`

	AfterAnswer func(context.Context) error `json:"-"`
	failure
}

var workerKill = &definition[WorkerKillInput, WorkerKillOutput]{
	tool: Tool{
		Name:        "worker-kill",
		Title:       "Kill a worker",
		Description: `End a worker and every process it started: gently first, then with SIGKILL. Its workspace stays.`,
		Set:         Workers,
		Destructive: true,
		Idempotent:  true,
	},
	run: runWorkerKill,
}

func runWorkerKill(ctx context.Context, h *host.Host, env Env, in WorkerKillInput) (WorkerKillOutput, error) {
	w, err := findWorker(ctx, h, in.Name)
	if err != nil {
		return WorkerKillOutput{}, err
	}
	progress, stop := killProgress(env, w.Name)
	defer stop()
	req := kill.Request{Force: &in.Force, Progress: progress}
	if in.Timeout > 0 {
		req.Grace = new(milliseconds(in.Timeout))
	}
	kill := func(ctx context.Context) ([]kill.Outcome, error) {
		return h.Kill().Kill(ctx, worker.Selection{Names: []string{w.ID}}, req)
	}
	if caller, err := h.Callers().Caller(ctx); err == nil && caller.WorkerID == w.ID {
		// The worker's end would also end the caller before the answer; the rights are
		// checked first.
		if err := mayEnd(ctx, h, caller, w.Team); err != nil {
			return WorkerKillOutput{}, err
		}
		req.Progress = nil
		after := func(ctx context.Context) error {
			_, err := kill(ctx)
			return err
		}
		return WorkerKillOutput{Worker: new(workerOf(w)), AfterAnswer: after}, nil
	}
	outs, err := kill(ctx)
	if err != nil {
		return WorkerKillOutput{}, err
	}
	killed := outs[0]
	out := WorkerKillOutput{
		SignalSent:  killed.Result.Signal,
		ForceKilled: killed.Result.Forced,
		Worker:      new(workerOf(killed.Worker)),
	}
	if killed.Err != nil {
		out.Error = message(killed.Err)
	}
	for _, warning := range killed.Warnings {
		out.Warnings = append(out.Warnings, warning.Text)
	}
	return out, nil
}

func mayEnd(ctx context.Context, h *host.Host, caller team.Caller, teamName string) error {
	if teamName == "" {
		return nil
	}
	return h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) error { return team.MayEnd(ctx, tx, caller, teamName) })
}
