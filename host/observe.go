package host

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	defaultRetain = registry.RetainUntilClean

	// reasonNotRespawned is said of an agent.
	reasonNotRespawned = "it could not be respawned"
)

// Workers returns the selected workers as they are now. A selection without
// names, All and Tag means all. An unknown name is an [ErrNotFound], and nothing
// else is returned then. Records that can't be read are left out and named in
// warnings. A backend that can't be asked makes its own workers
// [StatusUnknown].
func (h *Host) Workers(ctx context.Context, sel Selection) (ws []Worker, warnings []string, err error) {
	recs, warnings, err := h.choose(ctx, sel)
	if err != nil {
		return nil, warnings, err
	}
	ws = h.observe(ctx, recs)
	if sel.States {
		h.lookAll(ctx, recs, ws)
	}
	for i, w := range ws {
		// Its record goes with its end, which nobody has written yet.
		if recs[i].IsEphemeral() && w.Gone() && len(sel.Names) > 0 {
			return nil, warnings, &NotFoundError{Name: w.Name}
		}
	}
	ws = slices.DeleteFunc(ws, func(w Worker) bool { return w.Retain == registry.RetainNone && w.Gone() })
	return ws, warnings, nil
}

// observe tells how workers are by asking their backends, all at the same time.
func (h *Host) observe(ctx context.Context, recs []registry.Record) []Worker {
	ws := make([]Worker, len(recs))
	for i, r := range recs {
		ws[i] = worker(r)
		if r.State == registry.Starting {
			ws[i].Status = StatusStarting
			if !h.dir.Locked(r.ID) {
				ws[i].Reason = history.ReasonInterrupted
			}
		}
	}
	backend.Each(h.plugins.Groups(recs, registry.Record.IsRunning), func(g *backend.Group) {
		for i, s := range h.plugins.Statuses(ctx, g) {
			apply(&ws[g.At[i]], s)
		}
	})
	return ws
}

// worker returns a worker as its record says.
func worker(r registry.Record) Worker {
	w := Worker{
		ID: r.ID, Name: r.Name, Status: StatusUnknown, Reason: r.Reason, Backend: r.Backend, PID: r.PID,
		Command: r.Command, Dir: r.Dir, Env: r.Env, Tags: r.Tags, Created: r.Created, Started: r.Started,
		Where: r.Place, Workspace: r.Workspace, Retain: r.Retain,
		Restart: r.Restart, Restarts: r.Restarts, Completion: r.Completion, Owner: r.Owner, Ralph: r.Ralph,
		Stdin: r.Stdin, Previous: r.Previous, Kill: r.Kill, Options: r.Options,
		Project: r.Project, Team: r.Team, Agent: r.Agent, Shell: r.Shell, ShellRead: r.ShellRead, OutputLimit: r.OutputLimit,
		Profile: r.Profile,
	}
	if r.State == registry.Stopped {
		w.Status, w.PID = StatusStopped, 0
		if r.Exit != nil {
			w.Exit, w.Ended = r.Exit, r.Exit.Time
		}
	}
	return w
}

// apply fills in what a backend says of a worker.
func apply(w *Worker, r swarm.StatusResult) {
	if r.Err != nil {
		w.Status = StatusUnknown
		w.Reason, _ = history.WhyUnknown(r)
		return
	}
	s := r.Status
	w.Reason = s.Reason
	w.Restarts = max(w.Restarts, s.Restarts)
	if s.Completion != nil {
		w.Completion = s.Completion
	}
	if !s.Started.IsZero() {
		w.Started = s.Started
	}
	if s.Where.Kind != "" {
		w.Where = s.Where
	}
	switch s.State {
	case swarm.StateRunning:
		w.Status = StatusRunning
		// With a reason there is none: it waits for its restart.
		if s.PID != 0 || s.Reason != "" {
			w.PID = s.PID
		}
	case swarm.StateExited:
		w.Status, w.PID, w.Exit = StatusStopped, 0, s.Exit
		if s.Exit != nil {
			w.Ended = s.Exit.Time
		}
	case swarm.StateLost:
		w.Status, w.PID, w.Survivors = StatusLost, 0, s.Survivors
		if w.Reason == "" {
			w.Reason = history.ReasonLost
		}
	case swarm.StateUnknown:
		w.Status = StatusUnknown
		w.Reason, _ = history.WhyUnknown(r)
	}
}
