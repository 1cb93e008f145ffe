package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
)

const (
	// DefaultNudge is the text that Nudge types by default when nothing waits for the
	// agent.
	DefaultNudge = "Read your messages (read-messages) and look for a task (task-list)."
	// MaxNudge is the largest number of characters of a nudge: a longer text should be a
	// message.
	MaxNudge = 500
	// nudgeLimit is how long an agent may take to show its prompt.
	nudgeLimit = 20 * time.Second
)

// Peeked is the screen of an agent.
type Peeked struct {
	// Agent is the agent's id.
	Agent  string
	Worker worker.Worker
	// Lines are its screen, or the end of its output where it has no screen.
	Lines  []string
	Screen bool
	// Rule is the rule of its profile that matched, Draft the text at its prompt that was
	// not submitted; either may be empty.
	Rule, Draft string
}

// Peek returns the screen of an agent, and the state that its profile reads there. Only the
// leader of the team may call it. lines is how many lines of an output without a screen it
// returns; 0 means [host.PeekLines].
func Peek(ctx context.Context, h *host.Host, teamName, who string, lines int) (Peeked, error) {
	a, err := attend(ctx, h, teamName, who, "peek at agents")
	if err != nil {
		return Peeked{}, err
	}
	e, err := h.Display().Explain(ctx, a.WorkerID)
	if err != nil {
		return Peeked{}, err
	}
	p := Peeked{Agent: a.ID, Worker: e.Worker, Lines: e.Lines, Screen: true, Rule: e.Look.Rule, Draft: e.Look.Draft}
	if e.Worker.State == nil {
		p.Rule, p.Draft = "", "" // of a screen that was taken at the end
	}
	if e.Lines == nil {
		seen, err := h.Display().Peek(ctx, a.WorkerID, lines)
		if err != nil {
			return Peeked{}, err
		}
		p.Lines, p.Screen = seen.Lines, seen.Screen
	}
	return p, nil
}

// Nudged is the result of a nudge, as the tool nudge-agent returns it.
type Nudged struct {
	AgentID   string `json:"agentId" jsonschema:"ID of the agent"`
	Confirmed bool   `json:"confirmed" jsonschema:"Its screen shows that it took the line"`
}

// Nudge types a line at an agent's prompt and submits it, as [host.Host.Deliver] does:
// at a dialog nothing is typed. Only the leader of the team may do it. An empty text means the line
// about what waits for the agent, see [team.Line], or else [DefaultNudge].
func Nudge(ctx context.Context, h *host.Host, teamName, who, text string) (Nudged, error) {
	text = strings.TrimSpace(text)
	switch {
	case utf8.RuneCountInString(text) > MaxNudge:
		return Nudged{}, fmt.Errorf("a nudge has at most %d characters: send the rest with send-message", MaxNudge)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return Nudged{}, errors.New("a nudge is one line of text: send several with send-message")
	}
	a, err := attend(ctx, h, teamName, who, "nudge agents")
	if err != nil {
		return Nudged{}, err
	}
	if text == "" {
		pending, err := view(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx) ([]team.Pending, error) {
			return team.PendingOf(ctx, tx, a.WorkerID)
		})
		if err != nil {
			return Nudged{}, err
		}
		text = cmp.Or(team.Line(pending), DefaultNudge)
	}
	outs, err := h.Input().Deliver(ctx, worker.Selection{Names: []string{a.WorkerID}}, input.DeliverRequest{
		Text: []byte(text), Enter: true, Timeout: nudgeLimit,
	})
	if err == nil {
		err = outs[0].Err
	}
	if err != nil {
		return Nudged{}, err
	}
	return Nudged{AgentID: a.ID, Confirmed: outs[0].Confirmed}, nil
}

// attend returns an agent of a team that the caller leads.
func attend(ctx context.Context, h *host.Host, teamName, who, verb string) (registry.Agent, error) {
	return Look(ctx, h, teamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) (registry.Agent, error) {
		return team.Attend(ctx, tx, caller, teamName, who, verb)
	})
}
