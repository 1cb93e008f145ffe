package host

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/swarm"
)

// news is what a backend said of a worker and the registry does not know yet.
type news struct {
	rec    registry.Record
	status swarm.Status
	// lines are the last ones that it wrote, if it ended in a crash loop.
	lines []string
	// dropsWorkspace says that whoever brings the news sees to the workspace.
	dropsWorkspace bool
	// killed says that whoever brings the news has killed it, respawns that an agent
	// goes on with another worker.
	killed, respawns bool
	// recorded is [KillRequest.Recorded]; nil: nobody. With before there is nothing
	// else: the end is recorded already.
	recorded func(context.Context, *registry.Tx, registry.Record) error
	before   bool
}

// isPlainEnd reports whether the news is the end of a worker and nothing else,
// as it mostly is.
func (n news) isPlainEnd() bool {
	r, s := &n.rec, n.status
	return r.State == registry.Running && history.Over(s) && !r.IsEphemeral() && r.Team == "" && n.recorded == nil &&
		r.Completion == nil && s.Completion == nil &&
		r.Restarts >= s.Restarts && (s.Exit == nil || s.Exit.Cause != swarm.CauseCrashLoop)
}

// isNews reports whether s is something that is not recorded.
func isNews(rec *registry.Record, s swarm.Status) bool {
	if rec.State != registry.Running {
		return false
	}
	return history.Over(s) || s.Restarts > rec.Restarts || s.Completion != nil && rec.Completion == nil
}

// told is what became of news.
type told struct {
	// rec is the record as it is now, or was when it went.
	rec registry.Record
	// ended says that the worker's end was written by this very change, removed
	// that its record went with it.
	ended, removed bool
	// warnings are about the agent that it was.
	warnings []string
}

// publish writes news into the records and the history, all in one change. A
// worker that was cleaned meanwhile is passed over.
func (h *Host) publish(ctx context.Context, reg *registry.Registry, all []news) ([]told, error) {
	var out []told
	err := reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		out = make([]told, len(all))
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
		for _, text := range out[i].warnings {
			h.log.Warn("an agent that ended can't be cleaned up after", "worker", n.rec.Name, "error", text)
		}
		if t := &out[i]; t.removed || t.rec.State == registry.Stopped {
			h.warnIf(h.dir.DropEntry(n.rec.ID), "an entry of the journal can't be removed", "worker", n.rec.ID)
		}
		if out[i].ended {
			h.log.Info("a worker has ended", "worker", n.rec.Name, "backend", n.rec.Backend)
		}
	}
	return out, nil
}

// write writes the news of one worker.
func (n news) write(ctx context.Context, tx *registry.Tx, now time.Time) (told, error) {
	if n.isPlainEnd() {
		out := told{rec: n.rec, ended: true}
		recordEnd(&out.rec, n.status)
		finished, err := tx.Finish(ctx, &out.rec)
		if finished {
			_, err = tx.Append(ctx, history.FinalEvent(&n.rec, n.status, now))
		}
		if finished || err != nil {
			return out, err
		}
		// It is not as it was any more.
	}
	rec, err := tx.Get(ctx, n.rec.ID)
	if n.recorded != nil && (n.before || errors.Is(err, registry.ErrNotFound)) {
		return told{rec: n.rec}, n.recorded(ctx, tx, n.rec)
	}
	if err != nil {
		return told{rec: n.rec}, err
	}
	n.respawns = n.respawns || rec.Step == registry.StepRespawning && !n.killed
	s := n.status
	if s.Completion == nil {
		s.Completion = rec.Completion // said once is said for ever
	}
	out := told{}
	var events []registry.Event
	if rec.State == registry.Running {
		events = history.RestartEvents(&rec, s, now)
		rec.Restarts = max(rec.Restarts, s.Restarts)
		// A worker that is done has ended, as the history sees it.
		if out.ended = history.Over(s) && rec.Completion == nil || s.Completion != nil && rec.Completion == nil; out.ended {
			if s.Exit != nil && s.Exit.Cause == swarm.CauseCrashLoop {
				events = append(events, history.CrashLoopEvent(&rec, s, n.lines, now))
			}
			events = append(events, history.FinalEvent(&rec, s, now))
		}
		rec.Completion = s.Completion
	}
	if history.Over(s) {
		recordEnd(&rec, s)
	} else if s.PID != 0 {
		rec.PID = s.PID
	}
	if out.warnings, err = n.leaveTeam(ctx, tx, &rec, s, out.ended, now); err != nil {
		return out, err
	}
	out.rec = rec
	out.removed = rec.IsEphemeral() && (rec.Completion != nil || rec.State == registry.Stopped)
	switch {
	case out.removed && n.dropsWorkspace:
		return out, leaveWorkspace(ctx, tx, &rec, events...)
	case out.removed:
		return out, leave(ctx, tx, &rec, events...)
	}
	if err := tx.Put(ctx, &rec); err != nil {
		return out, err
	}
	_, err = tx.Append(ctx, events...)
	return out, err
}

// leaveTeam does what the end of a worker means for the agent that it was.
func (n news) leaveTeam(ctx context.Context, tx *registry.Tx, rec *registry.Record, s swarm.Status, ended bool, now time.Time) ([]string, error) {
	switch {
	case n.recorded != nil:
		return nil, n.recorded(ctx, tx, *rec)
	case !ended || rec.Agent == "" || n.respawns:
		return nil, nil
	}
	return team.Ended(ctx, tx, rec.ID, history.TeamEnd(s), now)
}

// crashLines is how many lines of output the history keeps of a crash loop, and
// crashLine how long each of them may be.
const (
	crashLines = 5
	crashLine  = 200
)

// lastLines returns the last lines that a worker wrote, those that there are.
func (h *Host) lastLines(ctx context.Context, rec registry.Record) []string {
	ctx, cancel := context.WithTimeout(ctx, backend.StatusLimit)
	defer cancel()
	var text lineReader
	e, err := h.plugins.Entry(rec.Backend, rec.Plugin)
	if err == nil {
		err = h.plugins.AskBackend(ctx, e, true, func(p *backend.Peer) error {
			tail := crashLines
			text = lineReader{}
			return p.Backend.Output(ctx, rec.Handle, swarm.OutputOptions{Tail: &tail}, func(o swarm.Output) error {
				text.add(o)
				return nil
			})
		})
	}
	h.warnIf(err, "the last output of a worker can't be read", "worker", rec.Name)
	var lines []string
	for _, l := range text.all() {
		if l = shorten(history.OneLine(l), crashLine); l != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(0, len(lines)-crashLines):]
}
