package tool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
)

type SpawnAgentInput struct {
	TeamName string   `json:"teamName" jsonschema:"Name of the team that the agent joins" schema:"min=1"`
	Name     string   `json:"name,omitempty" jsonschema:"Unique in the team; made up if omitted"`
	Role     string   `json:"role,omitempty" jsonschema:"Role; a leader has the leader's rights" schema:"default=worker,enum=leader|worker|reviewer"`
	Model    string   `json:"model,omitempty" jsonschema:"Model; replaces {model}"`
	Prompt   string   `json:"prompt,omitempty" jsonschema:"First prompt; replaces {prompt}, else typed in"`
	Cwd      string   `json:"cwd,omitempty" jsonschema:"Working directory; the caller's if omitted"`
	Backend  string   `json:"backend,omitempty" jsonschema:"Its backend" schema:"default=tmux"`
	Command  []string `json:"command,omitempty" jsonschema:"Command and arguments; agent_command if omitted" schema:"min=1"`

	Worktree     bool     `json:"worktree,omitempty" jsonschema:"Run it in a workspace of its own, usually a git worktree" schema:"default=false"`
	Workspace    string   `json:"workspace,omitempty" jsonschema:"The same of this plugin, such as copy"`
	Branch       string   `json:"branch,omitempty" jsonschema:"Branch of the workspace; its worker's name if omitted"`
	Env          []string `json:"env,omitempty" jsonschema:"Variables, KEY=VALUE"`
	EnvFile      []string `json:"envFile,omitempty" jsonschema:"Files of variables; env wins"`
	Tags         []string `json:"tags,omitempty" jsonschema:"Its tags"`
	ReadyPattern string   `json:"readyPattern,omitempty" jsonschema:"Regular expression for a line of its screen once it takes the prompt"`
	Profile      string   `json:"profile,omitempty" jsonschema:"Profile, or none; by its command if omitted"`

	WorkspaceOptions []string `json:"workspaceOptions,omitempty" jsonschema:"Options of the workspace, KEY=VALUE"`

	Limits  string `json:"limits,omitempty" jsonschema:"Such as memory=2g,cpus=1.5"`
	Sandbox bool   `json:"sandbox,omitempty" jsonschema:"Run it in a sandbox"`
}

type SpawnAgentOutput struct {
	outcome
	agent.Spawned
	failure
}

var SpawnAgent = &definition[SpawnAgentInput, SpawnAgentOutput]{
	tool: Tool{
		Name:   "spawn-agent",
		Title:  "Start an agent",
		Set:    Teams,
		Member: true,
		Leader: true,
		Description: `Start an agent as a member of a team, in a tmux window by default. Returns once the
agent is active.

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
		request := agent.SpawnRequest{
			Team: in.TeamName, Name: in.Name, Role: registry.Role(in.Role), Model: in.Model, Prompt: in.Prompt,
			Dir: dir, DirGiven: in.Cwd != "", Backend: in.Backend, Command: command, Tags: in.Tags, Profile: in.Profile,
			PromptWait: env.PromptWait, Limits: env.Limits, Sandbox: env.sandbox(in.Sandbox), Own: env.Own,
		}
		if err := env.addLimits(in.Limits, &request.Limits); err != nil {
			return SpawnAgentOutput{}, err
		}
		if err := in.complete(env, &request); err != nil {
			return SpawnAgentOutput{}, err
		}
		spawned, err := agent.Spawn(ctx, h, request)
		return SpawnAgentOutput{Spawned: spawned}, err
	},
	failed: func(in SpawnAgentInput) SpawnAgentOutput {
		return SpawnAgentOutput{Spawned: agent.Spawned{Name: in.Name}}
	},
}

func (in *SpawnAgentInput) complete(env Env, r *agent.SpawnRequest) (err error) {
	if slices.Contains(in.Tags, "") {
		return invalid("tags", "must not be empty")
	}
	if r.Workspace, err = env.workspace(workspaceInput{in.Worktree, in.Workspace, in.Branch, in.WorkspaceOptions}, r.Dir); err != nil {
		return err
	}
	if r.ReadyPattern, err = pattern("readyPattern", in.ReadyPattern); err != nil {
		return err
	}
	for _, file := range in.EnvFile {
		path, err := env.dir(file)
		if err != nil {
			return err
		}
		if env.ReadEnv == nil {
			return errors.New("files of variables can't be read here")
		}
		variables, err := env.ReadEnv(path)
		if err != nil {
			return err
		}
		r.Env = append(r.Env, variables...)
	}
	for _, entry := range in.Env {
		if key, _, ok := strings.Cut(entry, "="); !ok || key == "" {
			return invalid("env", "expected KEY=VALUE")
		}
	}
	r.Env = append(r.Env, in.Env...)
	return nil
}
