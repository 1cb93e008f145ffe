package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// CompleteRequest is the request of [Host.Complete].
type CompleteRequest struct {
	// Summary is one line, or empty. Line breaks become blanks; a summary longer than
	// [swarm.MaxSummary] is cut.
	Summary string
	// Allowed says that the caller's right was checked before: a released agent has no
	// token any more.
	Allowed bool
	// Warn, if not nil, is called with what the caller should know.
	Warn func(worker.Warning)
}

// minCompleteGrace is the least grace of a completed worker, so that it can still read the
// answer.
const minCompleteGrace = time.Second

// Complete records that the worker in which the caller runs is done, and returns it. The
// worker may then end by itself; its shim ends the remaining processes after the grace.
// Outside of workers the error is [ErrOutside]; for a worker that is being ended, or has
// completed before, it is [swarm.ErrTooLate].
func (h *Host) Complete(ctx context.Context, req CompleteRequest) (worker.Worker, error) {
	rec, err := h.callerRecord(ctx)
	if err != nil {
		return worker.Worker{}, err
	}
	// A team's worker is completed by its own agent only.
	if !req.Allowed && rec.Team != "" {
		caller, err := h.Callers().Caller(ctx)
		if err == nil && caller.WorkerID != rec.ID {
			err = worker.ErrOutside
		}
		if err != nil {
			return worker.Worker{}, err
		}
	}
	tooLate := fmt.Errorf("cannot complete '%s': %w: it has ended or is being ended already", rec.Name, swarm.ErrTooLate)
	if rec.Completion != nil || rec.State == registry.Stopped {
		return worker.Of(rec), tooLate
	}
	if rec.State == registry.Starting {
		// It was quicker than the spawn that started it.
		if rec, err = h.settler.Settled(ctx, rec); err != nil {
			return worker.Of(rec), fmt.Errorf("cannot complete '%s': %w", rec.Name, err)
		}
	}
	summary := safetext.Cut(history.OneLine(req.Summary), swarm.MaxSummary)
	opts := rec.Kill
	opts.Grace = max(opts.Grace, minCompleteGrace)
	// No later call can find it to kill it, or looks for it.
	opts.Force = opts.Force || rec.IsEphemeral() || rec.Agent != ""
	var status swarm.Status
	err = h.plugins.AskOwner(ctx, &rec, false, func(p *backend.Peer) error {
		if !p.Has(swarm.CapComplete) {
			return worker.Unsupported(rec.Backend, swarm.CapComplete, rec.Name)
		}
		if err := p.Backend.Complete(ctx, rec.Handle, summary, opts); err != nil {
			return err
		}
		status = statusNow(ctx, p, rec.Handle, summary)
		return nil
	})
	switch {
	case errors.Is(err, swarm.ErrTooLate):
		return worker.Of(rec), tooLate
	case err != nil:
		return worker.Of(rec), worker.WithName(err, "cannot complete", rec.Name)
	}
	// The shim has recorded it durably: the next call would write the same.
	w, warnings, err := h.recordCompletion(ctx, rec, status)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("cannot record the completion of '%s' yet: %v", rec.Name, err))
	}
	if req.Warn != nil {
		for _, text := range warnings {
			req.Warn(worker.Warning{Text: text})
		}
	}
	return w, nil
}

// callerRecord returns the record of the worker that the caller runs in; for a shell that
// acts as its owner, the record of the worker that the owner runs in.
func (h *Host) callerRecord(ctx context.Context) (registry.Record, error) {
	reg, err := h.store.ToChange(ctx)
	if err != nil {
		return registry.Record{}, err
	}
	run := h.callers.RunDir()
	id := h.callers.IDOf(run)
	var recs []registry.Record
	if reg != nil && id != "" {
		if recs, _, err = reg.Read(ctx, registry.Query{Names: []string{id}}); err != nil {
			return registry.Record{}, err
		}
	}
	if at := registry.IndexOf(recs, id); at >= 0 && recs[at].State != registry.Stopped && !h.callers.IsShim() {
		// For a worker with a shim the environment alone proves nothing: it may come from a
		// daemon that was started inside.
		if _, err := os.Stat(filepath.Join(h.dir.RunDir(recs[at].ID), rundir.StatusFile)); run == "" && err == nil {
			return registry.Record{}, worker.ErrOutside
		}
		return recs[at], nil
	}
	// The record of an ephemeral worker that is done is gone already.
	if id := filepath.Base(run); run != "" && statedir.SameFile(run, h.dir.RunDir(id)) {
		if f, err := h.dir.ReadWorkerFile(id); err == nil {
			return registry.Record{Spec: f.Spec, State: registry.Stopped}, nil
		}
	}
	return registry.Record{}, worker.ErrOutside
}

// statusNow is the status of a worker that has just completed.
func statusNow(ctx context.Context, p *backend.Peer, handle swarm.Handle, summary string) swarm.Status {
	s := swarm.Status{State: swarm.StateRunning}
	results, err := p.Backend.StatusBatch(ctx, []swarm.Handle{handle})
	if err == nil && len(results) == 1 && results[0].Err == nil {
		s = results[0].Status
	}
	if s.Completion == nil {
		s.Completion = &swarm.Completion{Summary: summary, Time: time.Now()}
	}
	return s
}

// recordCompletion records the completion, and removes the record of an ephemeral worker
// with it. The warnings are about its agent.
func (h *Host) recordCompletion(ctx context.Context, rec registry.Record, s swarm.Status) (_ worker.Worker, warnings []string, err error) {
	w := worker.Of(rec)
	w.Apply(swarm.StatusResult{Status: s})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kill.RecordLimit)
	defer cancel()
	reg, err := h.store.ToWrite(ctx)
	if err != nil {
		return w, nil, err
	}
	all, err := h.history.Write(ctx, reg, []history.Report{h.history.Report(ctx, rec, s)})
	for _, t := range all {
		warnings = append(warnings, t.Warnings...)
	}
	return w, warnings, err
}
