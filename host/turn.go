package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
)

// TurnEnd is how a turn of an agent has ended.
type TurnEnd string

const (
	// TurnIdle says that the agent is at its prompt again.
	TurnIdle TurnEnd = "idle"
	// TurnAsks says that it asks something.
	TurnAsks TurnEnd = "asks"
	// TurnLimited says that it stopped at a usage limit.
	TurnLimited TurnEnd = "limited"
	// TurnBroken says that it stopped with an error, or needs a sign-in.
	TurnBroken TurnEnd = "broken"
	// TurnEnded says that its worker has ended.
	TurnEnded TurnEnd = "ended"
	// TurnStalled says that it was never seen to begin.
	TurnStalled TurnEnd = "stalled"
)

// Turn is what became of a text that an agent was given.
type Turn struct {
	End TurnEnd
	// Worker has the agent's state of that moment.
	Worker worker.Worker
}

const (
	// beginLimit is how long an agent that has taken a text may take to begin.
	beginLimit = 15 * time.Second
	// beginStep is the time between two looks at what it may have answered already.
	beginStep = time.Second
)

// AwaitTurn waits until an agent that has taken a text has ended its turn, with its background
// work. A turn is seen to begin by the agent's state, or by an answer to the text on its screen
// if it had ended before anybody looked.
func (h *Host) AwaitTurn(ctx context.Context, name, text string) (Turn, error) {
	begins := []profile.State{profile.Working, profile.Compacting, profile.Background, profile.Blocked, profile.Limited, profile.Broken}
	ends := []profile.State{profile.Idle, profile.Blocked, profile.Limited, profile.Broken}
	for limit := time.Now().Add(beginLimit); ; {
		step, cancel := context.WithTimeout(ctx, beginStep)
		w, err := h.Display().WaitState(step, name, begins)
		late := step.Err() != nil
		cancel()
		switch {
		case err == nil:
		case errors.Is(err, worker.ErrEnded):
			return h.turnOf(w, err)
		case ctx.Err() != nil, !late:
			return Turn{Worker: w}, err
		case h.hasAnswered(ctx, name, text):
		case time.Now().After(limit):
			return Turn{TurnStalled, w}, nil
		default:
			continue
		}
		break
	}
	w, err := h.Display().WaitState(ctx, name, ends)
	return h.turnOf(w, err)
}

func (h *Host) turnOf(w worker.Worker, err error) (Turn, error) {
	t := Turn{TurnIdle, w}
	switch {
	case errors.Is(err, worker.ErrEnded):
		t.End, err = TurnEnded, nil
	case err != nil || w.State == nil:
	case w.State.State == profile.Blocked:
		t.End = TurnAsks
	case w.State.State == profile.Limited:
		t.End = TurnLimited
	case w.State.State == profile.Broken, w.State.Broken != "":
		t.End = TurnBroken
	}
	return t, err
}

// hasAnswered reports whether an agent's screen shows an answer to a text.
func (h *Host) hasAnswered(ctx context.Context, name, text string) bool {
	rec, err := h.roster.Begun(ctx, name)
	if err != nil {
		return false
	}
	p := h.Display().ProfileOf(&rec)
	shown, err := h.Display().Peek(ctx, name, 0)
	return err == nil && p != nil && shown.Screen && len(p.Answer(profile.Screen{Lines: shown.Lines, Styled: shown.Styled}, text)) > 0
}

// Reason returns why a turn has ended so, for people.
func (t Turn) Reason() string {
	s := t.Worker.State
	switch {
	case t.End == TurnStalled:
		return fmt.Sprintf("it took the text and did not begin within %s", beginLimit)
	case s == nil:
		return ""
	case t.End == TurnAsks:
		return s.Question
	case t.End == TurnLimited, t.End == TurnBroken:
		return cmp.Or(s.Reason, s.Broken)
	}
	return ""
}
