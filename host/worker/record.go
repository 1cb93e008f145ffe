package worker

import (
	"slices"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Of returns a worker as its record says.
func Of(r registry.Record) Worker {
	w := Worker{
		ID: r.ID, Name: r.Name, Status: StatusUnknown, Reason: r.Reason, Backend: r.Backend, PID: r.PID,
		Command: r.Command, Dir: r.Dir, Env: r.Env, Tags: r.Tags, Created: r.Created, Started: r.Started,
		Where: r.Place, Workspace: r.Workspace, Retain: r.Retain,
		Restart: r.Restart, Restarts: r.Restarts, Completion: r.Completion, Owner: r.Owner, Ralph: r.Ralph, Shown: r.Shown,
		Stdin: r.Stdin, Previous: r.Previous, Kill: r.Kill, Options: r.Options,
		Project: r.Project, Team: r.Team, Agent: r.Agent, Shell: r.Shell, ShellRead: r.ShellRead, OutputLimit: r.OutputLimit,
		Profile: r.Profile, Limits: r.Limits, Sandbox: r.Sandbox, Resurrect: r.Resurrect,
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
