package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// WorkerSendInput is a text for a worker.
type WorkerSendInput struct {
	Name  string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	Text  string `json:"text" jsonschema:"Text to type, several lines too"`
	Enter bool   `json:"enter" jsonschema:"Press Enter after it" schema:"default=true"`
}

// WorkerSendOutput says whether the worker has the text.
type WorkerSendOutput struct {
	outcome
	Pending bool   `json:"pending,omitempty" jsonschema:"The worker has it, and has not read all of it yet"`
	Error   string `json:"error,omitempty" jsonschema:"Why nothing was sent"`
}

// WorkerSend types text into a worker.
func WorkerSend(ctx context.Context, env Env, in WorkerSendInput) (WorkerSendOutput, error) {
	return workerSend.do(ctx, env, in)
}

var workerSend = &definition[WorkerSendInput, WorkerSendOutput]{
	tool: Tool{
		Name:  "worker-send",
		Title: "Type into a worker",
		Description: `Type text into a worker and press Enter. It needs a terminal (backend tmux) or stdin. Read the
answer with worker-output or worker-wait.`,
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
		outs, err := h.Send(ctx, host.Selection{Names: []string{w.ID}}, swarm.Input{Data: []byte(in.Text), Enter: in.Enter})
		if err == nil {
			err = outs[0].Err
		}
		if err != nil {
			return WorkerSendOutput{}, err
		}
		return WorkerSendOutput{outcome: outcome{true}, Pending: outs[0].Pending}, nil
	},
	failed: func(_ WorkerSendInput, text string) WorkerSendOutput { return WorkerSendOutput{Error: text} },
}
