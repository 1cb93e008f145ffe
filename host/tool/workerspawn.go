package tool

import (
	"context"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/worker"
)

type WorkerSpawnInput struct {
	Name     string   `json:"name" jsonschema:"Its name: letters, digits, hyphens" schema:"min=1"`
	Command  []string `json:"command" jsonschema:"Program and arguments, no shell" schema:"min=1"`
	Cwd      string   `json:"cwd,omitempty" jsonschema:"Directory"`
	Backend  string   `json:"backend,omitempty" jsonschema:"process, or tmux for a terminal"`
	Env      []string `json:"env,omitempty" jsonschema:"Entries KEY=VALUE"`
	Tags     []string `json:"tags,omitempty" jsonschema:"Labels"`
	Worktree bool     `json:"worktree,omitempty" jsonschema:"In its own worktree" schema:"default=false"`
	Branch   string   `json:"branch,omitempty" jsonschema:"Its branch"`
	Stdin    bool     `json:"stdin,omitempty" jsonschema:"For worker-send" schema:"default=false"`

	Workspace string `json:"workspace,omitempty" jsonschema:"Such as copy"`

	Limits  string `json:"limits,omitempty" jsonschema:"Such as memory=2g,cpus=1.5"`
	Sandbox bool   `json:"sandbox,omitempty" jsonschema:"In a sandbox"`
}

type WorkerSpawnOutput struct {
	outcome
	Worker   *Worker  `json:"worker,omitempty" jsonschema:"The new worker"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`
	failure
}

var workerSpawn = &definition[WorkerSpawnInput, WorkerSpawnOutput]{
	tool: Tool{
		Name:  "worker-spawn",
		Title: "Start a worker",
		Description: `Start a command as a worker, which outlives this session until it ends or is killed. Returns
once it runs. For a command of this session use Bash.`,
		Set: Workers,
	},
	run: runWorkerSpawn,
}

func runWorkerSpawn(ctx context.Context, h *host.Host, env Env, in WorkerSpawnInput) (WorkerSpawnOutput, error) {
	for _, entry := range in.Env {
		if key, _, ok := strings.Cut(entry, "="); !ok || key == "" {
			return WorkerSpawnOutput{}, invalid("env", "must be entries of the form KEY=VALUE")
		}
	}
	dir, err := env.dir(in.Cwd)
	if err != nil {
		return WorkerSpawnOutput{}, err
	}
	var out WorkerSpawnOutput
	req := env.newWorker(in.Backend)
	if req.Workspace, err = env.workspace(workspaceInput{in.Worktree, in.Workspace, in.Branch, nil}, dir); err != nil {
		return WorkerSpawnOutput{}, err
	}
	req.Name, req.Command, req.Env, req.Stdin = in.Name, in.Command, in.Env, in.Stdin
	req.Dir, req.DirGiven = dir, in.Cwd != ""
	req.Tags = append(req.Tags, in.Tags...)
	if err := env.addLimits(in.Limits, &req.Limits); err != nil {
		return WorkerSpawnOutput{}, err
	}
	if req.Sandbox == nil {
		req.Sandbox = env.sandbox(in.Sandbox)
	}
	req.Warn = func(w worker.Warning) { out.Warnings = append(out.Warnings, w.Text) }
	w, err := h.Spawn().Spawn(ctx, req)
	if err != nil {
		return WorkerSpawnOutput{}, err
	}
	out.Worker = new(workerOf(w))
	return out, nil
}
