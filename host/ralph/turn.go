package ralph

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

const (
	// lookQuiet is how long an agent with a profile must have written nothing before its
	// screen is read, and lookBusy is when it is read although the agent keeps writing.
	lookQuiet = 100 * time.Millisecond
	lookBusy  = 500 * time.Millisecond
	// turnIdle is how long an agent that has worked must be at its prompt until its turn is
	// over: agents draw their prompt between two steps, too.
	turnIdle = 2 * time.Second
	// turnMissed is the same for an agent that was not seen working: its turn was shorter
	// than the time between two reads, or has not begun, as with an agent that is still
	// starting.
	turnMissed = 15 * time.Second
	// turnTold is the same for one whose hooks said that its turn is over, and turnDoubted
	// for one whose hooks say that it works: no hook tells that a person interrupted it.
	turnTold    = 500 * time.Millisecond
	turnDoubted = 15 * time.Second
	// hookEvery is how often the hooks' report is read for an agent whose screen no rule
	// matches.
	hookEvery = time.Second
	// dialogFor is how long a dialog must be shown: some are drawn only for a moment. One
	// without known choices may disappear by itself.
	dialogFor  = 500 * time.Millisecond
	overlayFor = 5 * time.Second
)

// turn follows what an agent with a profile does, by its screen.
type turn struct {
	// look fires when the screen is due to be read; unseen is the time of the first output
	// since the last read.
	look   *time.Timer
	unseen time.Time
	// taken says that the agent was seen to take the prompt, worked that it has worked
	// since.
	taken, worked bool
	// shown is the result of the last read, with the time since which it is unchanged.
	shown profile.Look
	since time.Time
}

func (t *turn) wrote(now time.Time) {
	if t.unseen.IsZero() {
		t.unseen = now
	}
	t.look.Reset(min(lookQuiet, max(0, lookBusy-now.Sub(t.unseen))))
}

// saw records the result of a read and returns for how long it is unchanged.
func (t *turn) saw(l profile.Look, now time.Time) time.Duration {
	if l.State != t.shown.State || l.State == profile.Blocked && l.Question != t.shown.Question {
		t.since = now
	}
	t.shown, t.unseen = l, time.Time{}
	return now.Sub(t.since)
}

// over returns how long the agent must be at its prompt until its turn is over. said is the
// report of its hooks since it got the prompt.
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

// readTurn checks the screen of an agent with a profile for a question and for the end of
// its turn.
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
	if l.State == profile.Unknown && it.RunDir != "" {
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
	if it.outcome.broken = l.Trouble(); l.Trouble() != "" {
		it.outcome.failure = errorText(it.shown().Text(), l.Trouble())
	}
	it.end(idle)
}

// asksAtLimit ends the iteration if the agent asks what to do about a usage limit that is
// waited for: the loop's answer is to wait, and the dialog ends with the agent.
func (it *iteration) asksAtLimit(l profile.Look) bool {
	if l.Trouble() == "" || it.stopped() || it.state.LimitWaited {
		return false
	}
	text := errorText(it.shown().Text(), l.Trouble())
	if _, ok := limitEnd(text, time.Now()); !ok {
		return false
	}
	it.outcome.broken, it.outcome.failure = l.Trouble(), text
	it.end(idle)
	return true
}

// shown returns what the agent's terminal shows.
func (it *iteration) shown() profile.Screen {
	return profile.Screen{Lines: it.screen.Shown(), Styled: it.screen.ShownStyled()}
}

// read returns what the agent's screen shows, or its hooks say where no rule knows that,
// and what its hooks have said since it got the prompt; empty: nothing. Before it has the
// prompt, a dialog that its profile does not know counts too.
func (it *iteration) read() (l profile.Look, said profile.State) {
	shown := it.shown()
	lines := shown.Lines
	l = it.profile.Look(shown)
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
	if it.RunDir == "" {
		return hookstate.Claim{}
	}
	c, err := hookstate.Read(it.RunDir)
	if err != nil || !c.Holds(it.self) {
		return hookstate.Claim{}
	}
	return c
}

// ProfileOf returns the profile for the screen of a loop's agent; nil if it has no profile
// or no screen.
func ProfileOf(profiles *profile.Set, st *State) *profile.Profile {
	p := profileFor(profiles, st.Profile, st.Command)
	if p == nil || st.Headless || p.Headless(st.Command) {
		return nil
	}
	return p
}

// profileFor returns the profile that is named, or that of the command if none is; nil if
// there is no such profile.
func profileFor(profiles *profile.Set, named string, command []string) *profile.Profile {
	if named != "" {
		return profiles.Named(named)
	}
	return profiles.For(command)
}
