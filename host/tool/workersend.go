package tool

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

// WorkerSendInput is a text for a worker.
type WorkerSendInput struct {
	Name  string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	Text  string `json:"text" jsonschema:"Text to type, several lines too"`
	Enter bool   `json:"enter" jsonschema:"Press Enter after it" schema:"default=true"`
}

// WorkerSendOutput is the output of the tool worker-send.
type WorkerSendOutput struct {
	outcome
	Pending   bool `json:"pending,omitempty" jsonschema:"The worker has it, and has not read all of it yet"`
	Confirmed bool `json:"confirmed,omitempty" jsonschema:"The screen of an agent shows that it took the text"`
	asked
	failure
}

// promptLimit is how long an agent may take to show its prompt: with the proof that it
// took the text the call is answered before clients give up.
const promptLimit = 20 * time.Second

var workerSend = &definition[WorkerSendInput, WorkerSendOutput]{
	tool: Tool{
		Name:  "worker-send",
		Title: "Type into a worker",
		Description: `Type text into a worker and press Enter. The worker needs a terminal (backend tmux) or stdin.
Nothing is typed at an agent's dialog. Read the answer with worker-output.`,
		Set: Workers,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in WorkerSendInput) (WorkerSendOutput, error) {
		if in.Text == "" && !in.Enter {
			return WorkerSendOutput{}, invalid("text", "must not be empty without enter")
		}
		w, err := findWorker(ctx, h, in.Name)
		if err != nil {
			return WorkerSendOutput{}, err
		}
		outs, err := h.Deliver(ctx, host.Selection{Names: []string{w.ID}}, host.DeliverRequest{
			Text: []byte(in.Text), Enter: in.Enter, Timeout: promptLimit,
		})
		if err == nil {
			err = outs[0].Err
		}
		if asked := askedBy(err); asked.Question != "" {
			return WorkerSendOutput{failure: failure{message(err)}, asked: asked}, nil
		}
		if err != nil {
			return WorkerSendOutput{}, err
		}
		return WorkerSendOutput{Pending: outs[0].Pending, Confirmed: outs[0].Confirmed}, nil
	},
}
