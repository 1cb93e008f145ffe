package worker

import (
	"slices"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

func Of(r registry.Record) Worker {
	w := Worker{
		Spec: r.Spec, Status: StatusUnknown, Reason: r.Reason, PID: r.PID, Started: r.Started, Where: r.Place,
		Workspace: r.Workspace, Restarts: r.Restarts, Completion: r.Completion, ShellRead: r.ShellRead,
	}
	if r.State == registry.Stopped {
		w.Status, w.PID = StatusStopped, 0
		if r.Exit != nil {
			w.Exit, w.Ended = r.Exit, r.Exit.Time
		}
	}
	return w
}

// Apply fills in what a backend says of a worker.
func (w *Worker) Apply(r swarm.StatusResult) {
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
		w.Status, w.Paused, w.Unenforced = StatusRunning, s.Paused, s.Unenforced
		// A worker with a reason has no process: it waits for its restart.
		if s.PID != 0 || s.Reason != "" {
			w.PID = s.PID
		}
	case swarm.StatePending:
		w.Status, w.PID = StatusPending, 0
	case swarm.StateExited:
		w.Status, w.PID, w.Exit = StatusStopped, 0, s.Exit
		if s.Exit != nil {
			w.Ended = s.Exit.Time
		}
	case swarm.StateLost:
		w.Status, w.PID, w.Survivors, w.PerhapsAlive = StatusLost, 0, s.Survivors, s.PerhapsAlive
		if slices.ContainsFunc(s.PerhapsAlive, func(p swarm.Process) bool { return p.PID == s.PID }) {
			w.PID = s.PID
		}
		if w.Reason == "" {
			w.Reason = history.ReasonLost
		}
	case swarm.StateUnknown:
		w.Status = StatusUnknown
		w.Reason, _ = history.WhyUnknown(r)
	}
}
