package display

import (
	"strings"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
)

// OnItsScreen is the choice that leaves a question to the client.
const OnItsScreen = "Ask on its screen"

// Decisions are what the choices of a hook that waits for a decision mean, by their labels.
var Decisions = map[string]string{"Allow": hookstate.Allow, "Deny": hookstate.Deny, OnItsScreen: hookstate.OnScreen}

// DecisionChoices returns the choices of a hook that waits for a decision.
func DecisionChoices() []profile.Choice {
	return []profile.Choice{{Key: "1", Label: "Allow"}, {Key: "2", Label: "Deny"}, {Key: "3", Label: OnItsScreen}}
}

// Undecided returns the claim of a worker whose hook waits for a decision; nil if none does.
func (d *Reader) Undecided(id string) *hookstate.Claim {
	run := d.Dir.RunDir(id)
	c, err := hookstate.Read(run)
	if err != nil || c.Ask == nil {
		return nil
	}
	s, err := statedir.ReadStatus(run)
	if err != nil || !c.Waits(s.Main) {
		return nil
	}
	return &c
}

// undecided returns the state of an agent whose hook waits for a decision. Whatever the screen
// shows, an answer goes to the hook.
func undecided(p *profile.Profile, c *hookstate.Claim) judgement.State {
	s := judgement.State{
		Profile: p.Name(), State: profile.Blocked, Source: judgement.SourceHook, Since: c.Since,
		Question: c.Question, Choices: DecisionChoices(), Command: c.Command,
		Dialog: profile.Dialog{Text: []string{c.Question}, Digest: c.Ask.Digest, Cut: c.Partial},
	}
	if c.Command != "" {
		s.Dialog.Command = strings.Split(c.Command, "\n")
	}
	s.Dialog.Lines = append([]string{c.Question}, s.Dialog.Command...)
	s.Dialog.Lines = append(s.Dialog.Lines, profile.ChoiceLines(s.Choices)...)
	from := judgement.Origin{Source: judgement.SourceHook, Why: "the agent's hook waits for an answer"}
	s.Origins = judgement.Origins{State: from, Since: from, Question: from, Choices: from}
	if c.Command != "" {
		s.Origins.Command = from
	}
	return s
}
