package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// HeartbeatInput is the input of [Heartbeat].
type HeartbeatInput = agent.HeartbeatRequest

// HeartbeatOutput is the output of [Heartbeat].
type HeartbeatOutput struct {
	outcome
	agent.Beat
	failure
}

// Heartbeat records that an agent is alive.
var Heartbeat = &definition[HeartbeatInput, HeartbeatOutput]{
	tool: Tool{
		Name:        "heartbeat",
		Title:       "Report that an agent is alive",
		Set:         Teams,
		Member:      true,
		Description: `Report that you are alive. An active agent that gives no sign of life for two minutes is inactive.`,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in HeartbeatInput) (out HeartbeatOutput, err error) {
		out.Beat, err = agent.Heartbeat(ctx, h, in)
		return out, err
	},
}
