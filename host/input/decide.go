package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
)

// decide hands an answer over to the hook of a worker's agent that waits for it. Nothing is
// typed. The caller has checked the right to answer.
func (s *Sender) decide(ctx context.Context, rec *registry.Record, c *hookstate.Claim, r deliver.Reply) (deliver.Answered, error) {
	switch {
	case r.Digest != "" && r.Digest != c.Ask.Digest,
		r.Question != "" && !strings.Contains(strings.ToLower(c.Question), strings.ToLower(r.Question)):
		return deliver.Answered{}, fmt.Errorf("%w: '%s' asks something else now", deliver.ErrChanged, rec.Name)
	}
	named := r.Choices
	if r.Choice != "" {
		named = append([]string{r.Choice}, named...)
	}
	text := strings.Join(named, " ")
	choice, ok := pickDecision(text)
	if !ok || len(named) != 1 || r.Text != "" {
		return deliver.Answered{}, fmt.Errorf("a hook of '%s' waits for one choice, got %q: expected 1 Allow, 2 Deny or 3 %s", rec.Name, text, display.OnItsScreen)
	}
	err := hookstate.Decide(ctx, s.Dir.RunDir(rec.ID), hookstate.Decision{Digest: c.Ask.Digest, Answer: display.Decisions[choice.Label]})
	if errors.Is(err, hookstate.ErrNotWaiting) {
		err = fmt.Errorf("%w: %w; nothing was answered", deliver.ErrChanged, err)
	}
	return deliver.Answered{Question: c.Question, Choice: choice, Choices: []profile.Choice{choice}}, err
}

// pickDecision returns the choice with a key, or with a label that begins so.
func pickDecision(text string) (profile.Choice, bool) {
	choices := display.DecisionChoices()
	at := slices.IndexFunc(choices, func(c profile.Choice) bool {
		return c.Key == text || text != "" && strings.HasPrefix(strings.ToLower(c.Label), strings.ToLower(text))
	})
	if at < 0 {
		return profile.Choice{}, false
	}
	return choices[at], true
}
