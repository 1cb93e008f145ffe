package tool

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

type KillAgentInput struct {
	agent.KillRequest
	Wait int `json:"wait,omitempty" jsonschema:"Ms to wait for its answer, at most 50000" schema:"over=0"`
}

type KillAgentOutput struct {
	outcome
	Method string `json:"method" jsonschema:"How the agent is ended" schema:"enum=graceful|force"`
	agent.Killed
	failure
}

var KillAgent = &definition[KillAgentInput, KillAgentOutput]{
	tool: Tool{
		Name:   "kill-agent",
		Title:  "Terminate an agent",
		Set:    Teams,
		Member: true,
		Leader: true,
		Description: `Terminates an agent, either gracefully (three-phase shutdown negotiation) or forcefully
(immediate termination). Its tasks in progress go back to pending.

Only the team leader can kill agents.`,
		Destructive: true,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in KillAgentInput) (KillAgentOutput, error) {
		progress, stop := killProgress(env, in.AgentID)
		defer stop()
		in.Progress = progress
		killed, err := agent.Kill(ctx, h, in.KillRequest)
		asked := errors.Is(err, team.ErrInShutdown)
		if in.Wait > 0 && (asked || err == nil && killed.Phase == registry.ShutdownRequested) {
			killed, err = awaitAnswer(ctx, h, env, in)
		}
		return KillAgentOutput{Method: method(in), Killed: killed}, err
	},
	failed: func(in KillAgentInput) KillAgentOutput {
		// The contract has no phase for a refusal. Requested is the only phase that does
		// not suggest that the agent has ended.
		return KillAgentOutput{Method: method(in), Killed: agent.Killed{Phase: registry.ShutdownRequested}}
	},
}

func method(in KillAgentInput) string {
	if in.Force {
		return "force"
	}
	return "graceful"
}

// awaitAnswer waits for the answer of an agent that was asked to end; the phase is
// [registry.ShutdownRequested] if none came in time.
func awaitAnswer(ctx context.Context, h *host.Host, env Env, in KillAgentInput) (agent.Killed, error) {
	limited, cancel := env.waitContext(ctx, in.Wait)
	defer cancel()
	killed, err := agent.AwaitAnswer(limited, h, in.TeamName, in.AgentID)
	if err != nil && limited.Err() != nil {
		return agent.Killed{Phase: registry.ShutdownRequested}, ctx.Err()
	}
	return killed, err
}

type RespondShutdownInput = agent.RespondRequest

type RespondShutdownOutput struct {
	outcome
	agent.Responded
	failure
}

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
