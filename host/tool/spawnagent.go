package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
)

// SpawnAgentInput says which agent to start.
type SpawnAgentInput struct {
	TeamName string   `json:"teamName" jsonschema:"Name of the team that the agent joins" schema:"min=1"`
	Name     string   `json:"name,omitempty" jsonschema:"Name of the agent, unique in the team; made up if omitted"`
	Role     string   `json:"role,omitempty" jsonschema:"What it is in the team; a leader has the leader's rights" schema:"default=worker,enum=leader|worker|reviewer"`
	Model    string   `json:"model,omitempty" jsonschema:"Model that it uses; replaces {model} in the command"`
	Prompt   string   `json:"prompt,omitempty" jsonschema:"What it is told first; replaces {prompt} in the command, else it is typed in"`
	Cwd      string   `json:"cwd,omitempty" jsonschema:"Working directory; the caller's if omitted"`
	Backend  string   `json:"backend,omitempty" jsonschema:"Backend that runs it" schema:"default=tmux"`
	Command  []string `json:"command,omitempty" jsonschema:"Command and arguments; the configured agent_command if omitted" schema:"min=1"`
}

// SpawnAgentOutput is the new agent.
type SpawnAgentOutput struct {
	outcome
	AgentID   string `json:"agentId" jsonschema:"ID of the agent"`
	Name      string `json:"name" jsonschema:"Its name"`
	Color     string `json:"color" jsonschema:"Its colour, as #RRGGBB"`
	SessionID string `json:"sessionId" jsonschema:"ID of the worker that it runs in"`
	// Worker is that worker's name, for people.
	Worker   string   `json:"-"`
	PaneID   string   `json:"paneId,omitempty" jsonschema:"tmux pane that it runs in"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"What went wrong without making it fail"`
	Error    string   `json:"error,omitempty" jsonschema:"Why there is no new agent"`
}

// SpawnAgent starts an agent of a team.
func SpawnAgent(ctx context.Context, env Env, in SpawnAgentInput) (SpawnAgentOutput, error) {
	return spawnAgent.do(ctx, env, in)
}

var spawnAgent = &definition[SpawnAgentInput, SpawnAgentOutput]{
	tool: Tool{
		Name:  "spawn-agent",
		Title: "Start an agent",
		Description: `Start an agent as a member of a team, in a tmux window unless told otherwise. It is active
when the answer comes.

Only the team leader can spawn agents.`,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in SpawnAgentInput) (SpawnAgentOutput, error) {
		command := in.Command
		if command == nil {
			command = env.AgentCommand
		}
		if len(command) == 0 {
			return SpawnAgentOutput{}, env.noCommand()
		}
		dir, err := env.dir(in.Cwd)
		if err != nil {
			return SpawnAgentOutput{}, err
		}
		spawned, err := agent.Spawn(ctx, h, agent.SpawnRequest{
			Team: in.TeamName, Name: in.Name, Role: team.Role(in.Role), Model: in.Model, Prompt: in.Prompt,
			Dir: dir, Backend: in.Backend, Command: command,
		})
		if err != nil {
			return SpawnAgentOutput{}, err
		}
		return SpawnAgentOutput{
			outcome:   outcome{true},
			AgentID:   spawned.ID,
			Name:      spawned.Name,
			Color:     spawned.Color,
			SessionID: spawned.Session,
			Worker:    spawned.Worker,
			PaneID:    spawned.Pane,
			Warnings:  spawned.Warnings,
		}, nil
	},
	failed: func(in SpawnAgentInput, text string) SpawnAgentOutput {
		return SpawnAgentOutput{Name: in.Name, Error: text}
	},
}
