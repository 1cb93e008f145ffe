package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
)

// HeartbeatInput is the input of [Heartbeat].
type HeartbeatInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	AgentID  string `json:"agentId,omitempty" jsonschema:"You if omitted"`
	Status   string `json:"status,omitempty" jsonschema:"Unchanged if omitted" schema:"enum=active|idle"`
}

// HeartbeatOutput is the output of [Heartbeat].
type HeartbeatOutput struct {
	outcome
	HeartbeatTS  Timestamp `json:"heartbeatTs,omitzero" jsonschema:"When it was recorded; absent if it was not"`
	NextDeadline Timestamp `json:"nextDeadline,omitzero" jsonschema:"Until when the next sign of life is expected"`
	AgentStatus  string    `json:"agentStatus,omitempty" jsonschema:"Status of the agent" schema:"enum=spawning|active|idle|inactive|shutting_down|terminated"`
	Error        string    `json:"error,omitempty" jsonschema:"Why it was not recorded"`
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
	run: func(ctx context.Context, h *host.Host, _ Env, in HeartbeatInput) (HeartbeatOutput, error) {
		beat, err := agent.Heartbeat(ctx, h, agent.HeartbeatRequest{
			Team: in.TeamName, Agent: in.AgentID, Status: team.Status(in.Status),
		})
		if err != nil {
			return HeartbeatOutput{}, err
		}
		return HeartbeatOutput{
			outcome:      outcome{true},
			HeartbeatTS:  Timestamp{beat.Time},
			NextDeadline: Timestamp{beat.Deadline},
			AgentStatus:  string(beat.Status),
		}, nil
	},
	failed: func(_ HeartbeatInput, text string) HeartbeatOutput { return HeartbeatOutput{Error: text} },
}
