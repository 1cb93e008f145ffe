package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

type PeekAgentInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team the agent belongs to" schema:"min=1"`
	AgentID  string `json:"agentId" jsonschema:"ID or name of the agent" schema:"min=1"`
	Lines    int    `json:"lines,omitempty" jsonschema:"How many lines of an agent without a screen" schema:"default=30,over=0"`
}

type PeekAgentOutput struct {
	outcome
	AgentID  string        `json:"agentId" jsonschema:"ID of the agent"`
	Worker   string        `json:"worker,omitempty" jsonschema:"Name of the worker that it runs in"`
	Status   string        `json:"status,omitempty" jsonschema:"Status of that worker" schema:"enum=starting|running|stopped|lost|unknown"`
	State    string        `json:"state,omitempty" jsonschema:"State that its screen shows or its hooks report: working, idle, blocked, background, compacting, limited, broken, unknown"`
	Question string        `json:"question,omitempty" jsonschema:"Its question if it is blocked"`
	Choices  []string      `json:"choices,omitempty" jsonschema:"The answers that it offers"`
	Dialog   *agent.Dialog `json:"dialog,omitempty" jsonschema:"The whole of what it asks"`
	Rule     string        `json:"rule,omitempty" jsonschema:"Rule of its profile that matched"`
	Draft    string        `json:"draft,omitempty" jsonschema:"Text at its prompt that was typed but not submitted"`
	Screen   bool          `json:"screen" jsonschema:"The text is its screen, else the end of its output"`
	Text     string        `json:"text" jsonschema:"The screen or the output, as plain text"`
	failure
}

var peekAgent = &definition[PeekAgentInput, PeekAgentOutput]{
	tool: Tool{
		Name:        "peek-agent",
		Title:       "Look at an agent's screen",
		Set:         Teams,
		Member:      true,
		Leader:      true,
		Description: `Return an agent's screen, and its state with its question, or the reason why it stopped.`,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in PeekAgentInput) (PeekAgentOutput, error) {
		p, err := agent.Peek(ctx, h, in.TeamName, in.AgentID, in.Lines)
		if err != nil {
			return PeekAgentOutput{}, err
		}
		w := workerOf(p.Worker)
		return PeekAgentOutput{
			AgentID: p.Agent, Worker: w.Name, Status: w.Status,
			State: w.State, Question: w.Question, Choices: w.Choices, Dialog: w.Dialog, Rule: p.Rule, Draft: p.Draft,
			Screen: p.Screen, Text: screenText(p.Lines),
		}, nil
	},
	failed: func(in PeekAgentInput) PeekAgentOutput { return PeekAgentOutput{AgentID: in.AgentID} },
}

func screenText(lines []string) string {
	text := strings.ToValidUTF8(strings.TrimRight(strings.Join(lines, "\n"), " \n"), "\uFFFD")
	if r := []rune(text); len(r) > maxCharacters {
		text = string(r[len(r)-maxCharacters:])
	}
	return text
}

// text is the screen, below a line with the state of the agent.
func (out PeekAgentOutput) text() string {
	if !out.Success {
		return ""
	}
	state := out.State
	if state == "" {
		state = "its state is not known"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s in worker %s: %s, %s", out.AgentID, out.Worker, out.Status, state)
	if out.Question != "" {
		fmt.Fprintf(&b, "; it asks: %s (%s)", out.Question, strings.Join(out.Choices, ", "))
		if out.Dialog != nil {
			fmt.Fprintf(&b, ", digest %s", out.Dialog.Digest)
		}
	}
	if out.Draft != "" {
		fmt.Fprintf(&b, "; typed and not submitted: %s", out.Draft)
	}
	if !out.Screen {
		b.WriteString("; it has no screen, this is the end of its output")
	}
	b.WriteString("]\n")
	if out.Text == "" {
		b.WriteString("(nothing)")
	}
	b.WriteString(out.Text)
	return b.String()
}
