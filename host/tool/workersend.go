package tool

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
)

type WorkerSendInput struct {
	Name  string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	Text  string `json:"text" jsonschema:"Text to type, several lines too"`
	Enter bool   `json:"enter" jsonschema:"Press Enter after it" schema:"default=true"`
	Wait  int    `json:"wait,omitempty" jsonschema:"Ms to wait for the end of its turn" schema:"over=0"`
}

type WorkerSendOutput struct {
	outcome
	Pending   bool   `json:"pending,omitempty" jsonschema:"The worker has it, and has not read all of it yet"`
	Confirmed bool   `json:"confirmed,omitempty" jsonschema:"The screen of an agent shows that it took the text"`
	Turn      string `json:"turn,omitempty" jsonschema:"With wait: how the agent's turn ended; pending: time ran out first, worker-wait until idle continues" schema:"enum=idle|asks|limited|broken|ended|stalled|pending"`
	Reason    string `json:"reason,omitempty" jsonschema:"Why it ended so"`
	asked
	failure
}

// turnPending is the outcome of a turn that lasts longer than the call waits.
const turnPending = "pending"

// promptLimit is how long an agent may take to show its prompt: with the proof that it
// took the text the call is answered before clients give up.
const promptLimit = 20 * time.Second

var workerSend = &definition[WorkerSendInput, WorkerSendOutput]{
	tool: Tool{
		Name:  "worker-send",
		Title: "Type into a worker",
		Description: `Type text into a worker and press Enter. It needs a terminal (backend tmux) or stdin.
Nothing is typed at an agent's dialog. worker-output has the answer.`,
		Set: Workers,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in WorkerSendInput) (WorkerSendOutput, error) {
		if in.Text == "" && !in.Enter {
			return WorkerSendOutput{}, invalid("text", "must not be empty without enter")
		}
		if in.Wait > 0 && !in.Enter {
			return WorkerSendOutput{}, invalid("wait", "needs enter: a text that is not submitted begins no turn")
		}
		w, err := findWorker(ctx, h, in.Name)
		if err != nil {
			return WorkerSendOutput{}, err
		}
		outs, err := h.Input().Deliver(ctx, worker.Selection{Names: []string{w.ID}}, input.DeliverRequest{
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
		out := WorkerSendOutput{Pending: outs[0].Pending, Confirmed: outs[0].Confirmed}
		if in.Wait > 0 {
			err = out.await(ctx, h, env, w.ID, in)
		}
		return out, err
	},
}

// await waits for the end of the turn that a text has begun.
func (out *WorkerSendOutput) await(ctx context.Context, h *host.Host, env Env, id string, in WorkerSendInput) error {
	if !out.Confirmed {
		return invalid("wait", "the text was sent, but swarm can't see the turns of this program")
	}
	limited, cancel := env.waitContext(ctx, in.Wait)
	defer cancel()
	turn, err := h.AwaitTurn(limited, id, in.Text)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		out.Turn = turnPending
		return nil
	case err != nil:
		return err
	}
	out.Turn, out.Reason = string(turn.End), turn.Reason()
	if s := turn.Worker.State; turn.End == host.TurnAsks && s != nil {
		out.asked = asked{s.Question, profile.ChoiceLines(s.Choices), agent.DialogOf(s.Dialog)}
	}
	return nil
}
