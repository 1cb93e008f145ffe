package judgement

import (
	"time"

	"github.com/swarmhost/swarm/host/profile"
)

const (
	// SourceHook: the agent's hooks reported it.
	SourceHook = "hook"
	// SourceScreen: the agent's screen shows it.
	SourceScreen = "screen"
	// SourceProcess: the agent's process shows it: a headless agent works as long as it
	// lives, and one that has ended has no state.
	SourceProcess = "process"
)

// State is the state of a worker with a profile. It comes from text that the worker wrote, or
// from its hooks, so it is for people and for refusing to type; it is no reason to answer
// anything.
type State struct {
	Profile string
	State   profile.State
	// Source is the source of State; empty if that is unknown.
	Source string
	// Since is a time since which the state has held; zero if not known.
	Since time.Time
	// Question and Choices are set if State is [profile.Blocked], as far as they are
	// known.
	Question string
	Choices  []profile.Choice
	// Dialog is the whole of what a blocked agent asks, if its screen shows it.
	Dialog profile.Dialog
	// Command is what a blocked agent wants to run, or the tool with its input, whole and
	// with its line breaks; empty if only the question has it.
	Command string
	// Reason is why the agent stopped if State is [profile.Limited] or [profile.Broken], and
	// what it waits for if State is [profile.Background].
	Reason string
	// Broken is the text of an error or of a usage limit that the screen shows.
	Broken string
	// Origins are the sources of the parts.
	Origins Origins
}

// Origins are the sources of the parts of a [State]; zero for a part that is not set.
type Origins struct {
	State    Origin `json:"state"`
	Since    Origin `json:"since"`
	Question Origin `json:"question"`
	Choices  Origin `json:"choices"`
	Command  Origin `json:"command"`
	Reason   Origin `json:"reason"`
}

// Origin is the source of one part of a [State].
type Origin struct {
	// Source is one of the sources; empty if the part is not set.
	Source string `json:"source"`
	// Why is the reason why this source counts, for people.
	Why string `json:"why"`
}
