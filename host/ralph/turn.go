package ralph

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

const (
	// lookQuiet is how long an agent with a profile must have written nothing before its
	// screen is looked at, and lookBusy is when it is looked at although it goes on writing.
	lookQuiet = 100 * time.Millisecond
	lookBusy  = 500 * time.Millisecond
	// turnIdle is how long an agent that has worked must be at its prompt for its turn to
	// be over: agents draw their prompt between two steps, too.
	turnIdle = 2 * time.Second
	// turnMissed is the same for an agent that nobody saw working: its turn was faster than
	// a look, or is slow to begin, as that of an agent which is still starting.
	turnMissed = 15 * time.Second
	// turnTold is the same for one whose hooks said that its turn is over, and turnDoubted
	// for one whose hooks say that it works: no hook tells that a person interrupted it.
	turnTold    = 500 * time.Millisecond
	turnDoubted = 15 * time.Second
	// hookEvery is how often it is asked what hooks say of an agent whose screen no rule
	// knows.
	hookEvery = time.Second
	// dialogFor is how long a dialog must be there: some are drawn for a moment only. One
	// without choices that are known may go away by itself.
	dialogFor  = 500 * time.Millisecond
	overlayFor = 5 * time.Second
)

// turn follows what an agent with a profile does, by its screen.
type turn struct {
	// look fires when the screen is to be looked at; unseen is when something was written
	// first that no look has seen.
	look   *time.Timer
	unseen time.Time
	// taken says that the agent was seen to take the prompt, worked that it has worked
	// since.
	taken, worked bool
	// shown is what the last look saw, and since when looks have seen that.
	shown profile.Look
	since time.Time
}

func newTurn() turn { return turn{look: stoppedTimer()} }

// wrote is called when the agent has written something.
func (t *turn) wrote(now time.Time) {
	if t.unseen.IsZero() {
		t.unseen = now
	}
	t.look.Reset(min(lookQuiet, max(0, lookBusy-now.Sub(t.unseen))))
}

// saw takes what a look saw and returns for how long looks have seen that.
func (t *turn) saw(l profile.Look, now time.Time) time.Duration {
	if l.State != t.shown.State || l.State == profile.Blocked && l.Question != t.shown.Question {
		t.since = now
	}
	t.shown, t.unseen = l, time.Time{}
	return now.Sub(t.since)
}

// over returns how long the agent must be at its prompt for its turn to be over. said is
// what its hooks have said since it got the prompt.
func (t *turn) over(said profile.State) time.Duration {
	switch {
	case said == profile.Idle:
		return turnTold
	case said == profile.Working:
		return turnDoubted
	case t.worked:
		return turnIdle
	default:
		return turnMissed
	}
}

// asksFor returns how long the dialog must be there that was seen last.
func (t *turn) asksFor() time.Duration {
	if len(t.shown.Choices) == 0 {
		return overlayFor
	}
	return dialogFor
}

// readTurn looks at the screen of an agent with a profile: whether it asks something,
// and whether its turn is over.
func (it *iteration) readTurn(ctx context.Context) {
	if it.profile == nil || it.outcome.ending != 0 {
		return
	}
	l, said := it.read()
	lasts := it.turn.saw(l, time.Now())
	if l.State == profile.Working && it.entered.Load() != 0 {
		it.turn.worked = true
	}
	switch {
	case l.State == profile.Blocked && lasts < it.turn.asksFor():
		it.turn.look.Reset(it.turn.asksFor() - lasts)
	case l.State == profile.Blocked && it.asksAtLimit(l):
		return
	case l.State == profile.Blocked:
		it.asks(ctx, l)
	case it.stopped():
		it.answered(ctx)
	}
	if l.State == profile.Unknown && it.runDir != "" {
		it.turn.look.Reset(hookEvery)
	}
	if l.State != profile.Idle || !it.turn.taken {
		return
	}
	if limit := it.turn.over(said); lasts < limit {
		it.turn.look.Reset(limit - lasts)
		return
	}
	if it.done != nil && it.done.shows(it.screen.Open()) {
		it.matched()
	}
	if it.outcome.broken = l.Broken; l.Broken != "" {
		it.outcome.failure = errorText(it.screen.Shown(), l.Broken)
	}
	it.end(idle)
}

// asksAtLimit ends the iteration if the agent asks what to do about a usage limit that is
// waited for: the loop's answer is to wait, and the dialog ends with the agent.
func (it *iteration) asksAtLimit(l profile.Look) bool {
	if l.Broken == "" || it.stopped() || it.state.LimitWaited {
		return false
	}
	text := errorText(it.screen.Shown(), l.Broken)
	if _, ok := limitEnd(text, time.Now()); !ok {
		return false
	}
	it.outcome.broken, it.outcome.failure = l.Broken, text
	it.end(idle)
	return true
}

// read returns what the agent's screen shows, or its hooks say where no rule knows that,
// and what its hooks have said since it got the prompt; empty: nothing. Before it has the
// prompt, a dialog that its profile does not know counts too.
func (it *iteration) read() (l profile.Look, said profile.State) {
	lines := it.screen.Shown()
	l = it.profile.Look(profile.Screen{Lines: lines})
	c := it.hooks()
	if l.State == profile.Unknown && c.State != "" {
		l.State, l.Question = profile.State(c.State), c.Question
	}
	if l.State == profile.Unknown && it.ready.waiting {
		if question := it.ready.question(lines); question != "" {
			l.State, l.Question = profile.Blocked, question
		}
	}
	if entered := it.entered.Load(); entered != 0 && c.At.UnixNano() > entered {
		said = profile.State(c.State)
	}
	return l, said
}

// hooks returns what the hooks of the agent say that it does now; without a state, nothing.
func (it *iteration) hooks() hookstate.Claim {
	if it.runDir == "" {
		return hookstate.Claim{}
	}
	c, err := hookstate.Read(it.runDir)
	if err != nil || !c.Holds(it.self) {
		return hookstate.Claim{}
	}
	return c
}

// ProfileOf returns the profile by which the screen of a loop's agent is read; nil: it has
// none, or no screen.
func ProfileOf(profiles *profile.Set, st *State) *profile.Profile {
	p := profiles.For(st.Command)
	if st.Profile != "" {
		p = profiles.Named(st.Profile)
	}
	if p == nil || st.Headless || p.Headless(st.Command) {
		return nil
	}
	return p
}
