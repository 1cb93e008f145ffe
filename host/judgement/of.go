package judgement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

const (
	// SettledFor is how long a screen must be unchanged to be believed against a newer
	// report of hooks: no hook reports that a person interrupted a turn or left a dialog.
	SettledFor = 1500 * time.Millisecond
	// BackgroundFor is the same for a prompt without any sign of the background work that
	// the hooks reported, if the profile knows such signs: no hook reports that a person
	// ended that work.
	BackgroundFor = 15 * time.Second
)

// Evidence is what is known of an agent at one moment.
type Evidence struct {
	// Profile is the agent's profile.
	Profile *profile.Profile
	// Now is the time of the judgement.
	Now time.Time
	// Headless says that the agent has no screen: it works as long as its process lives.
	Headless bool
	// Look is what the screen shows; nil: no screen could be read. Unchanged is the time since
	// which it has shown that, at least; zero: unknown.
	Look      *profile.Look
	Unchanged time.Time
	// Hook is the newest report of the hooks of an agent that lives; nil: none. It replaces
	// all earlier ones.
	Hook *hookstate.Claim
	// Front is the name of a program that has the agent's terminal instead of the agent,
	// which has ended; empty: the agent has it, or that is not known.
	Front string
	// Settled is how long the screen must be unchanged to be believed against a report of
	// hooks; 0: [SettledFor].
	Settled time.Duration
}

// Of returns the state of an agent. If the same evidence gives another state at a later time,
// again is how long that takes; 0: only other evidence changes it.
func Of(e Evidence) (s State, again time.Duration) {
	s = State{State: profile.Unknown}
	if e.Profile != nil {
		s.Profile = e.Profile.Name()
	}
	switch {
	case e.Headless:
		s.set(profile.Working, Origin{SourceProcess, "a headless agent works as long as its process lives"})
		return s, 0
	case e.Front != "":
		s.Origins.State = Origin{SourceProcess, fmt.Sprintf("the agent has ended: '%s' has its terminal", e.Front)}
		return s, 0
	}
	j := judge{Evidence: e, shown: profile.Unknown, said: hookState(e.Hook)}
	if e.Look != nil {
		j.shown, s.Broken = e.Look.State, e.Look.Trouble()
	}
	j.Settled = cmp.Or(e.Settled, SettledFor)
	state, why, again := j.state()
	s.set(state, why)
	j.fill(&s)
	return s, again
}

func (s *State) set(state profile.State, why Origin) {
	s.State, s.Origins.State, s.Source = state, why, why.Source
	if state == profile.Unknown {
		s.Source = ""
	}
}

func hookState(c *hookstate.Claim) profile.State {
	if c == nil {
		return ""
	}
	return profile.State(c.State)
}

// judge holds the evidence with the states of both sources: shown is the screen's, and said
// that of the hooks, empty if they report none.
type judge struct {
	Evidence
	shown, said profile.State
}

// state returns the state, its source and the reason, and when it may be another one.
func (j *judge) state() (profile.State, Origin, time.Duration) {
	switch j.shown {
	case profile.Blocked:
		return j.byScreen("a dialog on the screen is certain")
	case profile.Working, profile.Compacting:
		return j.works()
	case profile.Idle, profile.Background:
		return j.atPrompt()
	default:
		return j.unread()
	}
}

func (j *judge) byScreen(why string) (profile.State, Origin, time.Duration) {
	if j.Look.Rule != "" {
		why = fmt.Sprintf("rule '%s' matches, and %s", j.Look.Rule, why)
	}
	return j.shown, Origin{SourceScreen, why}, 0
}

func (j *judge) byHook(why string, again time.Duration) (profile.State, Origin, time.Duration) {
	return j.said, Origin{SourceHook, why}, again
}

// works judges a screen with signs of work.
func (j *judge) works() (profile.State, Origin, time.Duration) {
	switch j.said {
	case j.shown:
		return j.byHook("the screen shows the same", 0)
	case profile.Compacting:
		return j.byHook("the screen shows work, and to compact is work", 0)
	default:
		return j.byScreen("signs of work are certain")
	}
}

// unread judges a screen that no rule knows, or none at all.
func (j *judge) unread() (profile.State, Origin, time.Duration) {
	if j.said == "" || j.said == profile.Idle {
		if state, why := j.stopped(); state != "" {
			return state, why, 0
		}
	}
	if j.said == "" {
		return profile.Unknown, Origin{"", "no rule matches the screen, and no hook reports a state"}, 0
	}
	return j.byHook("no rule matches the screen", 0)
}

// atPrompt judges a screen with a prompt. Agents show one between two steps, too.
func (j *judge) atPrompt() (profile.State, Origin, time.Duration) {
	settled := j.settled()
	switch j.said {
	case "", profile.Idle:
	case profile.Limited, profile.Broken:
		if state, why := j.stopped(); state == profile.Limited {
			return state, why, 0
		}
		return j.byHook("the last turn ended so", 0)
	case profile.Background:
		switch {
		case j.shown == profile.Background:
			return j.byHook("the screen shows the same", 0)
		case !j.Profile.Knows(profile.Background):
			return j.byHook("the turn has ended, and no hook has reported the end of the background work", 0)
		case settled < BackgroundFor:
			return j.byHook(fmt.Sprintf("the screen shows no background work, which counts when it has been unchanged for %v", BackgroundFor), BackgroundFor-settled)
		}
		return j.ended(fmt.Sprintf("it has shown no background work for %v", BackgroundFor))
	default:
		if settled < j.Settled {
			return j.byHook(fmt.Sprintf("agents show a prompt between two steps, too, so it counts when it has been unchanged for %v", j.Settled), j.Settled-settled)
		}
		return j.ended(fmt.Sprintf("it has been unchanged for %v since the hooks reported '%s'", j.Settled, j.said))
	}
	if j.said == profile.Idle && j.shown == profile.Idle && j.Look.Limit == "" && j.Look.Broken == "" {
		return j.byHook("the screen shows the same", 0)
	}
	if j.said == "" {
		return j.ended("no hook reports a state")
	}
	return j.ended("the hooks report the end of the turn")
}

// ended returns the state of an agent that is at its prompt after a turn.
func (j *judge) ended(why string) (profile.State, Origin, time.Duration) {
	if state, why := j.stopped(); state != "" {
		return state, why, 0
	}
	return j.byScreen(why)
}

// stopped returns the state of an agent that is at its prompt, or shows nothing else, and that
// shows why it stopped; empty: nothing shows that.
func (j *judge) stopped() (profile.State, Origin) {
	switch {
	case j.Look == nil:
		return "", Origin{}
	case j.Look.Limit != "":
		return profile.Limited, Origin{SourceScreen, "it shows a usage limit and no work"}
	case j.Look.Broken != "":
		return profile.Broken, Origin{SourceScreen, "it shows an error and no work"}
	default:
		return "", Origin{}
	}
}

// settled returns how long the screen has been unchanged since the last report of hooks.
func (j *judge) settled() time.Duration {
	last := j.Unchanged
	if j.Hook != nil && j.Hook.At.After(last) {
		last = j.Hook.At
	}
	return j.Now.Sub(last)
}

// fill sets the parts that belong to the state.
func (j *judge) fill(s *State) {
	byHook := s.Source == SourceHook
	switch {
	case byHook:
		s.Since, s.Origins.Since = j.Hook.Since, Origin{SourceHook, "the hooks reported the beginning of the state"}
	case j.Hook != nil && j.sameSince(s.State):
		s.Since, s.Origins.Since = j.Hook.Since, Origin{SourceHook, "the hooks reported the end of the turn"}
	case j.waits(s.State) && !j.Unchanged.IsZero():
		s.Since, s.Origins.Since = j.Unchanged, Origin{SourceScreen, "an agent that waits draws nothing"}
	}
	switch s.State {
	case profile.Blocked:
		j.ask(s)
	case profile.Limited, profile.Broken:
		s.Reason, s.Origins.Reason = s.Broken, Origin{SourceScreen, "the error that it shows"}
		if byHook && j.Hook.Reason != "" || s.Reason == "" {
			s.Reason, s.Origins.Reason = j.Hook.Reason, Origin{SourceHook, "the hooks reported the failure of the turn"}
		}
	case profile.Background:
		switch {
		case j.Hook != nil && j.said == profile.Background && j.Hook.Reason != "":
			s.Reason, s.Origins.Reason = j.Hook.Reason, Origin{SourceHook, "the hooks reported the background work"}
		case j.Look != nil && j.shown == profile.Background:
			s.Reason, s.Origins.Reason = j.Look.Evidence, Origin{SourceScreen, "the line that the rule matches"}
		}
	default: // the other states have no reason
	}
}

// waits reports whether an agent in a state waits, so that it draws nothing.
func (j *judge) waits(state profile.State) bool {
	return slices.Contains([]profile.State{profile.Idle, profile.Blocked, profile.Limited, profile.Broken}, state)
}

// sameSince reports whether the report of hooks is the beginning of a state that the screen
// shows: the end of the turn.
func (j *judge) sameSince(state profile.State) bool {
	return j.said == profile.Idle && (state == profile.Limited || state == profile.Broken)
}
