package courier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

// stopEvent returns the kind of the events that report a stop.
func stopEvent(s team.Stop) history.Kind { return history.Kind(strings.ToUpper(string(s))) }

// ReportStops reports the stops of agents in these states to the leaders of their teams, and
// wakes those. A stop that is not in the history is not certain yet. The agent's own hooks
// report what they know.
func (o *Office) ReportStops(ctx context.Context, recs []registry.Record, states map[string]*worker.AgentState) error {
	var teams []string
	var errs []error
	for i := range recs {
		n, ok := noticeOf(&recs[i], states[recs[i].ID])
		if !ok || !slices.Contains(o.opts.Notify, string(n.Stop)) || o.hooksSay(recs[i].ID, string(n.Stop)) {
			continue
		}
		teamName, err := o.notifyLeader(ctx, n)
		errs = append(errs, err)
		if teamName != "" && !slices.Contains(teams, teamName) {
			teams = append(teams, teamName)
		}
	}
	for _, teamName := range teams {
		o.Wake(ctx, teamName)
	}
	return errors.Join(errs...)
}

func noticeOf(rec *registry.Record, s *worker.AgentState) (n team.Notice, ok bool) {
	if s == nil || rec.Agent == "" {
		return n, false
	}
	n = team.Notice{WorkerID: rec.ID, Worker: rec.Name, Stop: team.Stop(s.State), Question: s.Question, Digest: s.Dialog.Digest, Reason: s.Reason}
	if len(s.Dialog.Lines) > 0 {
		n.Question = strings.Join(s.Dialog.Lines, "\n") // with the command and the choices
	} else {
		n.Command = s.Command
		for _, c := range s.Choices {
			n.Choices = append(n.Choices, strings.TrimSpace(c.Key+" "+c.Label))
		}
	}
	return n, slices.Contains(team.Stops(), string(n.Stop))
}

// notifyLeader reports a stop once for each of its events, unless the question was answered, by
// a rule perhaps. It writes only if there is something to report.
func (o *Office) notifyLeader(ctx context.Context, n team.Notice) (teamName string, err error) {
	due := false
	err = o.opts.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		e, err := tx.LastEvent(ctx, n.WorkerID, stopEvent(n.Stop), history.Answered)
		if n.Since = e.Time; err == nil && e.Kind == stopEvent(n.Stop) {
			_, due, err = team.NoticeDue(ctx, tx, n, time.Now())
		}
		return err
	})
	if err != nil || !due {
		return "", err
	}
	err = o.opts.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		teamName, err = team.Notify(ctx, tx, n, time.Now())
		return err
	})
	return teamName, err
}

// hooksSay reports whether an agent's hooks have reported this state of it.
func (o *Office) hooksSay(id, state string) bool {
	run := o.opts.Dir.RunDir(id)
	c, err := hookstate.Read(run)
	if err != nil || c.State != state {
		return false
	}
	s, err := statedir.ReadStatus(run)
	return err == nil && c.Holds(s.Main)
}
