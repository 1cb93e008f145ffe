package notifier

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/team"
)

// stopEvent returns the kind of the events that report a stop.
func stopEvent(s team.Stop) registry.EventKind { return registry.EventKind(strings.ToUpper(string(s))) }

// ReportStops reports the stops of agents in these states to the leaders of their teams, and
// wakes those. A stop that is not in the history is not certain yet. The agent's own hooks
// report what they know.
func (n *Notifier) ReportStops(ctx context.Context, recs []registry.Record, states map[string]*judgement.State) error {
	var teams []string
	var errs []error
	for i := range recs {
		notice, ok := noticeOf(&recs[i], states[recs[i].ID])
		if !ok || !slices.Contains(n.Notify, string(notice.Stop)) || n.hooksSay(recs[i].ID, string(notice.Stop)) {
			continue
		}
		// Each of its events is reported once, unless the question was answered, by a rule perhaps.
		teamName, err := n.notifyLeader(ctx, &notice, func(ctx context.Context, tx *registry.Tx) (bool, error) {
			e, err := tx.LastEvent(ctx, notice.WorkerID, stopEvent(notice.Stop), history.Answered)
			notice.Since = e.Time
			return e.Kind == stopEvent(notice.Stop), err
		})
		errs = append(errs, err)
		if teamName != "" && !slices.Contains(teams, teamName) {
			teams = append(teams, teamName)
		}
	}
	for _, teamName := range teams {
		n.Wake(ctx, teamName)
	}
	return errors.Join(errs...)
}

func noticeOf(rec *registry.Record, s *judgement.State) (notice team.Notice, ok bool) {
	if s == nil || rec.Agent == "" {
		return notice, false
	}
	notice = team.Notice{WorkerID: rec.ID, Worker: rec.Name, Stop: team.Stop(s.State), Question: s.Question, Digest: s.Dialog.Digest, Reason: s.Reason}
	if len(s.Dialog.Lines) > 0 {
		notice.Question = strings.Join(s.Dialog.Lines, "\n") // with the command and the choices
	} else {
		notice.Command = s.Command
		notice.Choices = profile.ChoiceLines(s.Choices)
	}
	return notice, slices.Contains(team.Stops(), string(notice.Stop))
}

// notifyLeader reports a stop to the leader of the team, once, if isNew says so of it. It writes
// only if there is something to report.
func (n *Notifier) notifyLeader(
	ctx context.Context, notice *team.Notice, isNew func(context.Context, *registry.Tx) (bool, error),
) (teamName string, err error) {
	due := false
	err = n.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		ok, err := isNew(ctx, tx)
		if err == nil && ok {
			_, due, err = team.NoticeDue(ctx, tx, *notice, time.Now())
		}
		return err
	})
	if err != nil || !due {
		return "", err
	}
	err = n.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		teamName, err = team.Notify(ctx, tx, *notice, time.Now())
		return err
	})
	return teamName, err
}

// hooksSay reports whether an agent's hooks have reported this state of it.
func (n *Notifier) hooksSay(id, state string) bool {
	run := n.Dir.RunDir(id)
	c, err := hookstate.Read(run)
	if err != nil || c.State != state {
		return false
	}
	s, err := statedir.ReadStatus(run)
	return err == nil && c.Holds(s.Main)
}
