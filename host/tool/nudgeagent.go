package tool

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
)

type NudgeAgentInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team the agent belongs to" schema:"min=1"`
	AgentID  string `json:"agentId" jsonschema:"ID or name of the agent" schema:"min=1"`
	Text     string `json:"text,omitempty" jsonschema:"One line, at most 500 characters; default: what is waiting for it"`
}

type NudgeAgentOutput struct {
	outcome
	agent.Nudged
	asked
	failure
}

// asked is the question of an agent, because of which a text was not submitted.
type asked struct {
	Question string        `json:"question,omitempty" jsonschema:"What it asks: the text was not submitted, or its turn waits for an answer"`
	Choices  []string      `json:"choices,omitempty" jsonschema:"The answers that it offers"`
	Dialog   *agent.Dialog `json:"dialog,omitempty" jsonschema:"The whole of what it asks"`
}

// askedBy returns the question of an agent, if that is the error of a delivery.
func askedBy(err error) asked {
	asks, _ := errors.AsType[*deliver.AsksError](err)
	return askedIn(asks)
}

func askedIn(asks *deliver.AsksError) asked {
	if asks == nil {
		return asked{}
	}
	return asked{asks.Question, profile.ChoiceLines(asks.Choices), agent.DialogOf(asks.Dialog)}
}

var nudgeAgent = &definition[NudgeAgentInput, NudgeAgentOutput]{
	tool: Tool{
		Name:   "nudge-agent",
		Title:  "Wake an agent",
		Set:    Teams,
		Member: true,
		Leader: true,
		Description: `Type one line at the prompt of an idle agent and submit it. If it shows a question, nothing
is typed and the answer has the question: 'swarm answer WORKER CHOICE --digest DIGEST' replies.`,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in NudgeAgentInput) (NudgeAgentOutput, error) {
		n, err := agent.Nudge(ctx, h, in.TeamName, in.AgentID, in.Text)
		if asked := askedBy(err); asked.Question != "" {
			n.AgentID = in.AgentID
			return NudgeAgentOutput{failure: failure{message(err)}, Nudged: n, asked: asked}, nil
		}
		return NudgeAgentOutput{Nudged: n}, err
	},
	failed: func(in NudgeAgentInput) NudgeAgentOutput {
		return NudgeAgentOutput{Nudged: agent.Nudged{AgentID: in.AgentID}}
	},
}
