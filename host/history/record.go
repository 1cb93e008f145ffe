package history

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// Report is the part of a backend's answer about a worker that the registry does not have
// yet.
type Report struct {
	Record registry.Record
	Status swarm.Status
	// DropsWorkspace says that the caller takes care of the workspace.
	DropsWorkspace bool
	// Killed says that the caller has killed the worker, Respawns that an agent continues
	// with another worker.
	Killed, Respawns bool
	// Recorded is called in the change that records the end, in place of the default
	// handling of the worker's agent; nil: the default. With Before the end is recorded
	// already, and nothing else is done.
	Recorded func(context.Context, *registry.Tx, registry.Record) error
	Before   bool

	// lines are the last ones that the worker wrote, if it ended in a crash loop.
	lines []string
}

// isPlainEnd reports whether the report is the end of a worker and nothing else, which is
// the usual case.
func (n Report) isPlainEnd() bool {
	r, s := &n.Record, n.Status
	return r.State == registry.Running && Over(s) && !r.IsEphemeral() && r.Team == "" && n.Recorded == nil &&
		r.Completion == nil && s.Completion == nil &&
		r.Restarts >= s.Restarts && (s.Exit == nil || s.Exit.Cause != swarm.CauseCrashLoop)
}

// IsNew reports whether s holds something that is not recorded.
func IsNew(rec *registry.Record, s swarm.Status) bool {
	return rec.State == registry.Running &&
		(Over(s) || s.Restarts > rec.Restarts || s.Completion != nil && rec.Completion == nil)
}

// Written is what became of a report.
type Written struct {
	// Record is the record as it is now, or was when it went.
	Record registry.Record
	// Ended says that the worker's end was written by this very change, Removed
	// that its record went with it.
	Ended, Removed bool
	// Warnings are about the agent that the worker was.
	Warnings []string
}

// Write writes reports into the records and the history, all in one change. It passes
// over a worker that was cleaned meanwhile.
func (h *History) Write(ctx context.Context, reg *registry.Registry, all []Report) ([]Written, error) {
	var out []Written
	err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		out = make([]Written, len(all))
		for i, n := range all {
			t, err := n.write(ctx, tx, time.Now())
			if err != nil && !errors.Is(err, registry.ErrNotFound) {
				return err
			}
			out[i] = t
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, n := range all {
		for _, text := range out[i].Warnings {
			h.Logger.Warn("an agent that ended can't be cleaned up after", "worker", n.Record.Name, "error", text)
		}
		if t := &out[i]; t.Removed || t.Record.State == registry.Stopped {
			warn.If(h.Logger, h.Dir.DropEntry(n.Record.ID), "an entry of the journal can't be removed", "worker", n.Record.ID)
		}
		if out[i].Ended {
			h.Logger.Info("a worker has ended", "worker", n.Record.Name, "backend", n.Record.Backend)
		}
	}
	return out, nil
}

func (n Report) write(ctx context.Context, tx *registry.Tx, now time.Time) (Written, error) {
	if n.isPlainEnd() {
		out := Written{Record: n.Record, Ended: true}
		RecordEnd(&out.Record, n.Status)
		finished, err := tx.Finish(ctx, &out.Record)
		if finished {
			_, err = tx.Append(ctx, FinalEvent(&n.Record, n.Status, now))
		}
		if finished || err != nil {
			return out, err
		}
		// The record has changed since it was read.
	}
	rec, err := tx.Get(ctx, n.Record.ID)
	if n.Recorded != nil && (n.Before || errors.Is(err, registry.ErrNotFound)) {
		return Written{Record: n.Record}, n.Recorded(ctx, tx, n.Record)
	}
	if err != nil {
		return Written{Record: n.Record}, err
	}
	n.Respawns = n.Respawns || rec.Step == registry.StepRespawning && !n.Killed
	s := n.Status
	if s.Completion == nil {
		s.Completion = rec.Completion // a completion is never taken back
	}
	out := Written{}
	var events []registry.Event
	if rec.State == registry.Running {
		events = RestartEvents(&rec, s, now)
		rec.Restarts = max(rec.Restarts, s.Restarts)
		// For the history, a worker that is done has ended.
		if out.Ended = rec.Completion == nil && (Over(s) || s.Completion != nil); out.Ended {
			if s.Exit != nil && s.Exit.Cause == swarm.CauseCrashLoop {
				events = append(events, CrashLoopEvent(&rec, s, n.lines, now))
			}
			events = append(events, FinalEvent(&rec, s, now))
		}
		rec.Completion = s.Completion
	}
	if Over(s) {
		RecordEnd(&rec, s)
	} else if s.PID != 0 {
		rec.PID = s.PID
	}
	switch {
	case n.Recorded != nil:
		err = n.Recorded(ctx, tx, rec)
	case out.Ended && rec.Agent != "" && !n.Respawns:
		out.Warnings, err = team.Ended(ctx, tx, rec.ID, TeamEnd(s), now)
	}
	if err != nil {
		return out, err
	}
	out.Record = rec
	out.Removed = rec.IsEphemeral() && (rec.Completion != nil || rec.State == registry.Stopped)
	switch {
	case out.Removed && n.DropsWorkspace:
		return out, LeaveWorkspace(ctx, tx, &rec, events...)
	case out.Removed:
		return out, Leave(ctx, tx, &rec, events...)
	}
	if err := tx.Put(ctx, &rec); err != nil {
		return out, err
	}
	_, err = tx.Append(ctx, events...)
	return out, err
}

// crashLines is how many lines of output the history keeps of a crash loop, and
// crashLine how long each of them may be.
const (
	crashLines = 5
	crashLine  = 200
)

func (h *History) lastLines(ctx context.Context, rec registry.Record) []string {
	all, err := output.LastOf(ctx, h.Plugins, rec, crashLines)
	warn.If(h.Logger, err, "the last output of a worker can't be read", "worker", rec.Name)
	var lines []string
	for _, l := range all {
		if l = safetext.Cut(OneLine(l), crashLine); l != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-crashLines):]
}

// ReadsOutput reports whether the report of a worker has its last lines of output, for which
// the backend is asked.
func ReadsOutput(rec *registry.Record, s swarm.Status) bool {
	return s.Exit != nil && s.Exit.Cause == swarm.CauseCrashLoop && rec.State == registry.Running
}

// Report turns the answer of a backend about a worker into a report.
func (h *History) Report(ctx context.Context, rec registry.Record, s swarm.Status) Report {
	n := Report{Record: rec, Status: s}
	if ReadsOutput(&rec, s) {
		n.lines = h.lastLines(ctx, rec)
	}
	return n
}

const (
	// ReasonLost is the reason of a worker whose exit is unknown.
	ReasonLost = "shim died, exit unknown"
	// ReasonInterrupted is that of a worker whose spawn was interrupted.
	ReasonInterrupted = "spawn was interrupted"
)

// RecordEnd writes the end that a backend reported into a record. It does not overwrite
// recorded facts, which came from the shim.
func RecordEnd(r *registry.Record, s swarm.Status) {
	r.Step = ""
	if !s.Started.IsZero() {
		r.Started = s.Started
	}
	if s.Where.Kind != "" {
		r.Place = s.Where
	}
	if r.State == registry.Stopped && (r.Exit != nil || s.Exit == nil) {
		return
	}
	r.State, r.PID, r.Exit, r.Reason = registry.Stopped, 0, s.Exit, s.Reason
	if s.Exit == nil && r.Reason == "" {
		r.Reason = ReasonLost
	}
}

// RecordFound writes into a record what a backend said of a worker that it
// found.
func RecordFound(rec *registry.Record, s swarm.Status) {
	rec.PID, rec.Started, rec.Place = s.PID, s.Started, s.Where
	rec.Completion, rec.Restarts = s.Completion, s.Restarts
	if s.State == swarm.StateExited {
		RecordEnd(rec, s)
	}
}
