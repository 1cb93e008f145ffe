package tool

import (
	"context"
	"errors"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
)

// KillAgentInput is the input of [KillAgent].
type KillAgentInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team the agent belongs to" schema:"min=1"`
	AgentID  string `json:"agentId" jsonschema:"ID of the agent to terminate" schema:"min=1"`
	Force    bool   `json:"force,omitempty" jsonschema:"Skip graceful shutdown and force-kill immediately" schema:"default=false"`
	Reason   string `json:"reason,omitempty" jsonschema:"Reason for termination (sent to agent in shutdown request)"`
	Wait     int    `json:"wait,omitempty" jsonschema:"Ms to wait for its answer, at most 50000" schema:"over=0"`
}

// KillAgentOutput is the output of [KillAgent].
type KillAgentOutput struct {
	outcome
	Method          string   `json:"method" jsonschema:"How it ends" schema:"enum=graceful|force"`
	Phase           string   `json:"phase" jsonschema:"How far the shutdown has come; requested if it was refused" schema:"enum=requested|approved|rejected|confirmed|force_killed"`
	ReassignedTasks []string `json:"reassignedTasks" jsonschema:"Task IDs that were reassigned"`
	Warnings        []string `json:"warnings,omitempty" jsonschema:"What went wrong without making it fail"`
	Error           string   `json:"error,omitempty" jsonschema:"Why nothing was done"`
	later
}

// KillAgent ends an agent, or asks it to.
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
		killed, err := agent.Kill(ctx, h, agent.KillRequest{
			Team: in.TeamName, Agent: in.AgentID, Force: in.Force, Reason: in.Reason, Progress: progress,
		})
		asked := errors.Is(err, team.ErrInShutdown)
		if in.Wait > 0 && (asked || err == nil && killed.Phase == team.Requested) {
			killed, err = awaitAnswer(ctx, h, env, in)
		}
		if err != nil {
			return KillAgentOutput{}, err
		}
		return KillAgentOutput{
			outcome:         outcome{true},
			Method:          method(in),
			Phase:           string(killed.Phase),
			ReassignedTasks: listed(killed.Reassigned),
			Warnings:        killed.Warnings,
			later:           later{killed.AfterAnswer},
		}, nil
	},
	failed: func(in KillAgentInput, text string) KillAgentOutput {
		// The contract has no phase for a refusal. Requested is the only phase that does
		// not suggest that the agent has ended.
		return KillAgentOutput{Method: method(in), Phase: string(team.Requested), ReassignedTasks: []string{}, Error: text}
	},
}

func method(in KillAgentInput) string {
	if in.Force {
		return "force"
	}
	return "graceful"
}

// awaitAnswer waits for the answer of an agent that was asked to end; the phase is
// [team.Requested] if none came in time.
func awaitAnswer(ctx context.Context, h *host.Host, env Env, in KillAgentInput) (agent.Killed, error) {
	limited, cancel := env.waiting(ctx, in.Wait)
	defer cancel()
	killed, err := agent.AwaitAnswer(limited, h, in.TeamName, in.AgentID)
	if err != nil && limited.Err() != nil {
		return agent.Killed{Phase: team.Requested}, ctx.Err()
	}
	return killed, err
}

// listed returns a list that is never null in JSON.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
