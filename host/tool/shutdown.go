package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// RespondShutdownInput is an agent's answer to a shutdown request.
type RespondShutdownInput = agent.RespondRequest

// RespondShutdownOutput is how far the shutdown has come.
type RespondShutdownOutput struct {
	outcome
	agent.Responded
	failure
}

// RespondShutdown answers a shutdown request.
var RespondShutdown = &definition[RespondShutdownInput, RespondShutdownOutput]{
	tool: Tool{
		Name:   "respond-shutdown",
		Title:  "Answer a shutdown request",
		Set:    Teams,
		Member: true,
		Description: `Answer a shutdown request. If you approve, your process ends after the answer; with ready
false you continue, and call again when ready. If you reject, the leader gets the reason.`,
		Destructive: true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in RespondShutdownInput) (out RespondShutdownOutput, err error) {
		out.Responded, err = agent.Respond(ctx, h, in)
		return out, err
	},
}
