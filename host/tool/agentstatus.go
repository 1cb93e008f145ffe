package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// The input and the parts of the output of [GetAgentStatus].
type (
	GetAgentStatusInput = agent.StatusRequest
)

type GetAgentStatusOutput struct {
	outcome
	agent.StatusAnswer
	failure
}

var GetAgentStatus = &definition[GetAgentStatusInput, GetAgentStatusOutput]{
	tool: Tool{
		Name:   "get-agent-status",
		Title:  "Show the status of agents",
		Set:    Teams,
		Member: true,
		Description: `Queries the status of one or all agents in a team. Returns comprehensive metadata including
lifecycle state, heartbeat health, session info, and server status. Any team member can call
this tool.`,
		ReadOnly:   true,
		Idempotent: true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in GetAgentStatusInput) (out GetAgentStatusOutput, err error) {
		out.StatusAnswer, err = agent.Status(ctx, h, in)
		return out, err
	},
}

type HeartbeatInput = agent.HeartbeatRequest

type HeartbeatOutput struct {
	outcome
	agent.Beat
	failure
}

var Heartbeat = &definition[HeartbeatInput, HeartbeatOutput]{
	tool: Tool{
		Name:        "heartbeat",
		Title:       "Report that an agent is alive",
		Set:         Teams,
		Member:      true,
		Description: `Report that you are alive. Without a sign of life for two minutes, an agent is inactive.`,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in HeartbeatInput) (out HeartbeatOutput, err error) {
		out.Beat, err = agent.Heartbeat(ctx, h, in)
		return out, err
	},
}
