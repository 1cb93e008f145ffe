package display

import (
	"context"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
)

// Asked is the last question of an agent that the history has, and that is not answered
// with swarm since. Its zero value: there is none.
type Asked struct {
	// Time is when it was first seen.
	Time time.Time
	// Question is its text on one line, and Digest that of its dialog; empty if no dialog was
	// seen.
	Question, Digest string
}

// beforeDigest is the text before a digest at the end of an event.
const beforeDigest = " (digest "

func askedEvent(rec *registry.Record, question, digest string, now time.Time) registry.Event {
	text := history.OneLine(question)
	if digest != "" {
		text += beforeDigest + digest + ")"
	}
	return history.NewEvent(rec, history.Asked, text, now)
}

// LastQuestion returns the question of the worker with that id that is still open, as far as
// the history says.
func LastQuestion(ctx context.Context, tx *registry.Tx, id string) (Asked, error) {
	e, err := tx.LastEvent(ctx, id, history.Asked, history.Answered)
	if err != nil || e.Kind != history.Asked {
		return Asked{}, err
	}
	a := askedOf(e.Text)
	a.Time = e.Time
	return a, nil
}

func askedOf(text string) Asked {
	if at := strings.LastIndex(text, beforeDigest); at >= 0 && strings.HasSuffix(text, ")") {
		return Asked{Question: text[:at], Digest: text[at+len(beforeDigest) : len(text)-1]}
	}
	return Asked{Question: text}
}

// Is reports whether the question is that of a dialog with a digest; without one, whether it has
// the same words.
func (a Asked) Is(question, digest string) bool {
	switch {
	case a.Time.IsZero():
		return false
	case a.Digest != "" && digest != "":
		return a.Digest == digest
	default:
		return a.Question == history.OneLine(question)
	}
}
