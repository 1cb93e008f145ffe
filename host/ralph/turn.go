package ralph

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
)

const (
	// lookQuiet is how long an agent with a profile must have written nothing before its
	// screen is read, and lookBusy is when it is read although the agent keeps writing.
	lookQuiet = 100 * time.Millisecond
	lookBusy  = 500 * time.Millisecond
	// turnIdle is how long an agent that has worked must be at its prompt until its turn
	// ends: agents draw their prompt between two steps, too.
	turnIdle = 2 * time.Second
	// turnMissed is the same for an agent that was not seen working: its turn was shorter
	// than the time between two reads, or has not begun. If it has not answered then, there
	// was no turn. An agent that got the prompt as an argument may still be starting, so
	// it has turnUnbegun to begin.
	turnMissed  = 15 * time.Second
	turnUnbegun = time.Minute
	// turnSaid is the same for one whose hooks said that its turn has ended. turnDoubted is how
	// long it must be at its prompt until that counts against its hooks, which report that it
	// works: no hook reports that a person interrupted it.
	turnSaid    = 500 * time.Millisecond
	turnDoubted = 15 * time.Second
	// hookEvery is how often the hooks' report is read while it decides.
	hookEvery = time.Second
	// dialogFor is how long a dialog must be shown: some are drawn only for a moment. One
	// without known choices may disappear by itself.
	dialogFor  = 500 * time.Millisecond
	overlayFor = 5 * time.Second
)

// turn follows what an agent with a profile does. It counts if it was seen to begin and to
// end.
type turn struct {
	// look fires when the screen is due to be read; unseen is the time of the first output
	// since the last read.
	look   *time.Timer
	unseen time.Time
	// taken says that the agent has the prompt, begun that it was seen to work on it since,
	// on its screen or by its hooks.
	taken, begun bool
	// before are the lines of the screen when the prompt was about to be typed.
	before []string
	// shown is the result of the last read, with the time since which it is unchanged.
	shown judgement.State
	since time.Time
	// drawn is the state of the screen alone at the last read, since drawnAt.
	drawn   profile.State
	drawnAt time.Time
}

func (t *turn) wrote(now time.Time) {
	if t.unseen.IsZero() {
		t.unseen = now
	}
	t.look.Reset(min(lookQuiet, max(0, lookBusy-now.Sub(t.unseen))))
}

// take records that the agent has the prompt: only what it does from now on is its turn.
func (t *turn) take(now time.Time) {
	t.taken, t.since = true, now
	t.look.Reset(0)
}

// saw records the result of a read and returns for how long it is unchanged.
func (t *turn) saw(s judgement.State, now time.Time) time.Duration {
	if s.State != t.shown.State || s.State == profile.Blocked && s.Question != t.shown.Question {
		t.since = now
	}
	t.shown, t.unseen = s, time.Time{}
	return now.Sub(t.since)
}

// drew records the state of the screen alone, and returns since when it is unchanged.
func (t *turn) drew(s profile.State, now time.Time) time.Time {
	if s != t.drawn || t.drawnAt.IsZero() {
		t.drawn, t.drawnAt = s, now
	}
	return t.drawnAt
}

// over returns how long the agent must be in the state of the last read until its turn ends.
// said is the report of its hooks since it got the prompt.
func (t *turn) over(said profile.State) time.Duration {
	switch {
	case ended(said):
		return turnSaid
	case t.begun, t.shown.State != profile.Idle:
		return turnIdle
	default:
		return turnMissed
	}
}

// ended reports whether a state is the end of a turn. Background work does not end it: the agent
// continues when that has ended.
func ended(s profile.State) bool {
	return s == profile.Idle || s == profile.Limited || s == profile.Broken
}

// asksFor returns how long the dialog must be there that was seen last.
func (t *turn) asksFor() time.Duration {
	if len(t.shown.Choices) == 0 {
		return overlayFor
	}
	return dialogFor
}

// moment is what is known of the agent at one moment.
type moment struct {
	judgement.State
	look profile.Look
	// said is what its hooks have reported since it got the prompt; empty: nothing.
	said profile.State
	// again is when to read once more although it writes nothing; 0: not.
	again time.Duration
}

// readTurn checks what an agent with a profile does for a question and for the end of its
// turn.
func (it *iteration) readTurn(ctx context.Context) {
	if it.profile == nil || it.outcome.ending != 0 {
		return
	}
	r, lasts := it.follow(time.Now())
	it.lookAgain(r.again)
	blocked := r.State.State == profile.Blocked
	switch {
	case blocked && lasts < it.turn.asksFor():
		it.turn.look.Reset(it.turn.asksFor() - lasts)
	case blocked && it.asksAtLimit(&r):
		return
	case blocked:
		it.asks(ctx, r.Question, r.Choices)
	case it.stopped():
		it.answered(ctx)
	}
	if !it.turn.taken || !ended(r.State.State) {
		return
	}
	if left := it.patience(r.said) - lasts; left > 0 {
		if r.again > 0 {
			left = min(left, r.again)
		}
		it.lookAgain(left)
		return
	}
	if it.done != nil && it.done.shows(it.screen.Open()) {
		it.matched()
	}
	it.judge(&r)
	it.end(idle)
}

// follow reads the agent, and returns for how long it has been in its state.
func (it *iteration) follow(now time.Time) (r moment, lasts time.Duration) {
	r = it.read(now)
	lasts = it.turn.saw(r.State, now)
	state, given := r.State.State, it.entered.Load() != 0
	works := state == profile.Working || state == profile.Compacting || state == profile.Background
	// A prompt that it got as an argument waits behind its first dialogs.
	asks := state == profile.Blocked && it.turn.taken && !it.argued
	if given && works || asks || r.said != "" {
		it.turn.begun = true
	}
	return r, lasts
}

func (it *iteration) lookAgain(d time.Duration) {
	if d > 0 {
		it.turn.look.Reset(d)
	}
}

// patience returns how long the agent must be in the state of the last read until its turn ends.
func (it *iteration) patience(said profile.State) time.Duration {
	d := it.turn.over(said)
	if d == turnMissed && it.argued && !it.replied() {
		return turnUnbegun
	}
	return d
}

// judge sets the outcome of a turn that has ended.
func (it *iteration) judge(r *moment) {
	begun := it.turn.begun || it.replied()
	switch {
	case r.State.State == profile.Limited, r.State.State == profile.Broken:
		it.stops(cmp.Or(r.Broken, r.Reason))
		it.outcome.untaken = it.argued && !begun
	case !begun:
		it.outcome.unseen, it.outcome.untaken = true, true
	}
}

// replied reports whether the screen shows an answer to the prompt, which proves a turn that
// was too short to be seen: a new text behind the prompt.
func (it *iteration) replied() bool {
	if it.profile == nil || it.argued && it.resumed {
		return false // the conversation may have the prompt and its answer from before
	}
	return slices.ContainsFunc(it.profile.Answer(it.shown(), string(it.prompt)), func(line string) bool {
		return !slices.ContainsFunc(it.turn.before, func(old string) bool { return strings.Contains(old, line) })
	})
}

// stops records the error or the limit with which the turn has ended.
func (it *iteration) stops(trouble string) {
	it.outcome.broken = trouble
	it.outcome.failure = errorText(it.shown().Text(), trouble)
	if !strings.Contains(it.outcome.failure, trouble) { // the hooks reported it in other words
		it.outcome.failure = trouble + " " + it.outcome.failure
	}
}

// asksAtLimit ends the iteration if the agent asks what to do about a usage limit that is
// waited for: the loop's answer is to wait, and the dialog ends with the agent.
func (it *iteration) asksAtLimit(r *moment) bool {
	if r.Broken == "" || it.stopped() || it.state.LimitWaited {
		return false
	}
	if _, ok := limitEnd(errorText(it.shown().Text(), r.Broken), time.Now()); !ok {
		return false
	}
	it.stops(r.Broken)
	it.end(idle)
	return true
}

// shown returns what the agent's terminal shows.
func (it *iteration) shown() profile.Screen {
	return profile.Screen{Lines: it.screen.Shown(), Styled: it.screen.ShownStyled()}
}

// read joins what the agent's screen shows and what its hooks report. Before it has begun, a
// dialog that its profile does not know counts too.
func (it *iteration) read(now time.Time) (r moment) {
	shown := it.shown()
	r.look = it.profile.Look(shown)
	e := judgement.Evidence{
		Profile: it.profile, Now: now, Look: &r.look, Unchanged: it.turn.drew(r.look.State, now), Settled: turnDoubted,
	}
	c := it.hooks()
	if c.State != "" {
		e.Hook = &c
	}
	r.State, r.again = judgement.Of(e)
	byHook := r.Source == judgement.SourceHook
	switch {
	case r.State.State == profile.Blocked && byHook && r.look.State != profile.Unknown:
		// The dialog is about to be drawn, or a person has left it.
		r.State.State = profile.Working
	case ended(r.State.State) && !byHook && r.look.State == profile.Unknown:
		// An error in the place of a prompt may be gone in a moment.
		r.State.State = profile.Unknown
	}
	if r.State.State == profile.Unknown && (it.ready.waiting || it.argued && !it.turn.begun) {
		if question := it.ready.question(shown.Lines); question != "" {
			r.State.State, r.Question = profile.Blocked, question
		}
	}
	if entered := it.entered.Load(); entered != 0 && c.At.UnixNano() > entered {
		r.said = profile.State(c.State)
	}
	if it.RunDir != "" && (byHook || r.State.State == profile.Unknown) && (r.again == 0 || r.again > hookEvery) {
		r.again = hookEvery
	}
	return r
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
