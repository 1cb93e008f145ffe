package display

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
)

// QuietFor is how long an agent must have written nothing to be reported as idle: it
// draws its prompt between two steps, too.
const QuietFor = time.Second

var stateKinds = []registry.EventKind{
	history.Blocked, history.Idle, history.Working, history.Background, history.Compacting, history.Broken, history.Limited, history.Answered,
}

// RecordStates writes an event for each worker whose state differs from its last event of this
// kind, and one for each dialog that has no event yet. It returns the states, by the ids of the
// workers.
func (d *Reader) RecordStates(ctx context.Context, db *registry.Registry, recs []registry.Record) (map[string]*judgement.State, error) {
	states := d.States(ctx, recs)
	return states, recordStates(ctx, db, recs, states)
}

func recordStates(ctx context.Context, db *registry.Registry, recs []registry.Record, states map[string]*judgement.State) error {
	now := time.Now()
	var events []registry.Event
	for i := range recs {
		s := states[recs[i].ID]
		kind, text := stateEvent(s, now)
		if kind != "" {
			events = append(events, history.NewEvent(&recs[i], kind, history.OneLine(text), now))
		}
		if kind == history.Blocked {
			events = append(events, askedEvent(&recs[i], s.Question, s.Dialog.Digest, now))
		}
	}
	if len(events) == 0 {
		return nil
	}
	// Most looks find what is known, which takes no write.
	var changed []registry.Event
	err := db.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		changed, err = fresh(ctx, tx, events)
		return err
	})
	if err != nil || len(changed) == 0 {
		return err
	}
	// Another watcher may have been quicker.
	return db.Change(ctx, func(ctx context.Context, tx *registry.Tx) error { return appendFresh(ctx, tx, events) })
}

func appendFresh(ctx context.Context, tx *registry.Tx, events []registry.Event) error {
	changed, err := fresh(ctx, tx, events)
	if err == nil {
		_, err = tx.Append(ctx, changed...)
	}
	return err
}

// fresh returns the events that are not recorded yet.
func fresh(ctx context.Context, tx *registry.Tx, events []registry.Event) (changed []registry.Event, err error) {
	for _, e := range events {
		isNew, err := unrecorded(ctx, tx, &e)
		if err != nil {
			return nil, err
		}
		if isNew {
			changed = append(changed, e)
		}
	}
	return changed, nil
}

// unrecorded reports whether an event says something that the history does not have yet.
func unrecorded(ctx context.Context, tx *registry.Tx, e *registry.Event) (bool, error) {
	if e.Kind == history.Asked {
		last, err := LastQuestion(ctx, tx, e.ID)
		asked := askedOf(e.Text)
		return err == nil && !last.Is(asked.Question, asked.Digest), err
	}
	last, err := tx.LastEvent(ctx, e.ID, append([]registry.EventKind{e.Kind}, stateKinds...)...)
	return err == nil && (last.Kind != e.Kind || last.Text != e.Text), err
}

// stateEvent returns the event that a state is; an empty kind: none. An agent draws its prompt,
// and an error above it, between two steps, too.
func stateEvent(s *judgement.State, now time.Time) (kind registry.EventKind, text string) {
	if s == nil {
		return "", ""
	}
	quiet := s.Since.IsZero() || now.Sub(s.Since) >= QuietFor
	switch {
	case s.State == profile.Blocked:
		return history.Blocked, s.Question
	case s.State == profile.Working:
		return history.Working, ""
	case s.State == profile.Compacting:
		return history.Compacting, ""
	case s.State == profile.Background:
		return history.Background, s.Reason
	case s.State == profile.Idle && quiet:
		return history.Idle, ""
	case s.State == profile.Limited && quiet:
		return history.Limited, s.Reason
	case s.State == profile.Broken && quiet:
		return history.Broken, s.Reason
	default:
		return "", ""
	}
}

// RecordLoop records the state of a ralph worker's loop in the history, such as
// [history.Blocked]. The id is the worker's. It writes nothing if the last event of
// these kinds says the same.
func (d *Reader) RecordLoop(ctx context.Context, id string, kind registry.EventKind, text string) error {
	return d.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		rec, err := tx.Get(ctx, id)
		if err != nil {
			return err
		}
		now := time.Now()
		events := []registry.Event{history.NewEvent(&rec, kind, history.OneLine(text), now)}
		if kind == history.Blocked {
			events = append(events, askedEvent(&rec, text, "", now))
		}
		return appendFresh(ctx, tx, events)
	})
}

// RecordAnswer writes into the history which choice of an agent's dialog was picked for a
// caller, and who the caller is. It writes the question before that if the question was answered
// before it was recorded.
func RecordAnswer(ctx context.Context, tx *registry.Tx, rec *registry.Record, question, choice, who string) error {
	now := time.Now()
	text := history.OneLine(fmt.Sprintf("%s (%s), by %s", question, choice, who))
	events := []registry.Event{history.NewEvent(rec, history.Answered, text, now)}
	asked, err := LastQuestion(ctx, tx, rec.ID)
	if err != nil {
		return err
	}
	if asked.Time.IsZero() {
		events = append([]registry.Event{askedEvent(rec, question, "", now)}, events...)
	}
	_, err = tx.Append(ctx, events...)
	return err
}
