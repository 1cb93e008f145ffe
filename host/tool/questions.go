package tool

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
)

type QuestionsInput struct {
	Tag string `json:"tag,omitempty" jsonschema:"Only of workers with this tag"`
}

type Question struct {
	Name      string           `json:"name" jsonschema:"Name of the worker"`
	Team      string           `json:"team,omitempty" jsonschema:"Its team"`
	Agent     string           `json:"agent,omitempty" jsonschema:"ID of the agent"`
	Project   string           `json:"project" jsonschema:"Directory of its project"`
	Since     humane.Timestamp `json:"since,omitzero" jsonschema:"When it was first seen"`
	Question  string           `json:"question" jsonschema:"The question on one line"`
	Command   string           `json:"command,omitempty" jsonschema:"Command that it asks about"`
	Choices   []string         `json:"choices" jsonschema:"The answers that it offers"`
	Dialog    *agent.Dialog    `json:"dialog,omitempty" jsonschema:"The whole of what it asks"`
	MayAnswer bool             `json:"may_answer" jsonschema:"Whether the caller may answer it"`
	Refusal   string           `json:"refusal,omitempty" jsonschema:"Why it may not"`
}

type QuestionsOutput struct {
	outcome
	Questions []Question `json:"questions" jsonschema:"The open questions, the oldest first"`
	Warnings  []string   `json:"warnings,omitempty" jsonschema:"Omitted workers, and why"`
	failure
}

var questions = &definition[QuestionsInput, QuestionsOutput]{
	tool: Tool{
		Name:        "questions",
		Title:       "List what agents ask",
		Description: `List the open questions of agents, the oldest first. worker-answer answers one.`,
		Set:         Workers,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in QuestionsInput) (out QuestionsOutput, err error) {
		open, warnings, err := h.Questions(ctx, worker.Selection{All: in.Tag == "", Tag: in.Tag})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		out.Warnings = warnings
		for _, q := range open[:min(len(open), maxListed)] {
			out.Questions = append(out.Questions, questionOf(q))
		}
		return out, nil
	},
}

func questionOf(q question.Question) Question {
	s := q.Worker.State
	out := Question{
		Name: q.Worker.Name, Team: q.Worker.Team, Agent: q.Worker.Agent, Project: q.Project, Since: humane.At(q.Since),
		Question: s.Question, Command: strings.Join(q.Command(), "\n"), Choices: append([]string{}, profile.ChoiceLines(s.Choices)...),
		Dialog: agent.DialogOf(s.Dialog), MayAnswer: q.Refusal == nil,
	}
	if q.Refusal != nil {
		out.Refusal = message(q.Refusal)
	}
	return out
}

type WorkerAnswerInput struct {
	Name   string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	Choice string `json:"choice,omitempty" jsonschema:"Key of the choice, or the beginning of its label"`
	// Choices, Submit and Text have the meaning that they have in deliver.Reply.
	Choices []string `json:"choices,omitempty" jsonschema:"Several choices of a dialog with boxes"`
	Submit  bool     `json:"submit,omitempty" jsonschema:"Send what is checked: exactly the given choices, if there are any"`
	Text    string   `json:"text,omitempty" jsonschema:"Text for the dialog's field"`
	Digest  string   `json:"digest" jsonschema:"Digest of the dialog that is answered" schema:"min=1"`
}

type WorkerAnswerOutput struct {
	outcome
	Answered string `json:"answered,omitempty" jsonschema:"The question that was answered"`
	Label    string `json:"label,omitempty" jsonschema:"The choice that was picked, or all of them"`
	Open     bool   `json:"open,omitempty" jsonschema:"Whether boxes were changed and nothing was sent yet"`
	asked
	failure
}

var workerAnswer = &definition[WorkerAnswerInput, WorkerAnswerOutput]{
	tool: Tool{
		Name:  "worker-answer",
		Title: "Answer an agent's question",
		Description: `Pick a choice of the dialog that an agent shows. Another dialog than that with the digest is
not answered. A question that follows is returned. A leader may answer only if the person allowed it.`,
		Set: Workers,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in WorkerAnswerInput) (WorkerAnswerOutput, error) {
		w, err := findWorker(ctx, h, in.Name)
		if err != nil {
			return WorkerAnswerOutput{}, err
		}
		done, err := h.Input().Answer(ctx, w.ID, deliver.Reply{Choice: in.Choice, Choices: in.Choices, Submit: in.Submit, Text: in.Text, Digest: in.Digest})
		if err != nil {
			return WorkerAnswerOutput{failure: failure{message(err)}, asked: askedIn(deliver.AsksNow(err))}, nil
		}
		return WorkerAnswerOutput{Answered: done.Question, Label: done.Picked(), Open: done.Open, asked: askedIn(done.Next)}, nil
	},
}
