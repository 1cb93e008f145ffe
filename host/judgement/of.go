package judgement

import (
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

// SettledFor is how long a screen with a prompt must be unchanged to be believed against a
// report of hooks: no hook reports that a person interrupted a turn.
const SettledFor = 1500 * time.Millisecond

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
	// Hook is the newest report of the hooks of an agent that lives; nil: none. Earlier ones
	// do not count, whatever they said.
	Hook *hookstate.Claim
	// Front is the name of a program that has the agent's terminal instead of the agent,
	// which has ended; empty: the agent has it, or that is not known.
	Front string
	// Settled is how long the screen must be unchanged to be believed against a report of
	// hooks; 0: [SettledFor].
	Settled time.Duration
}

// Of returns the state of an agent. If the same evidence gives another state later, again is
// how long that takes; 0: only other evidence changes it.
func Of(e Evidence) (s State, again time.Duration) {
	return State{State: profile.Unknown}, 0
}
