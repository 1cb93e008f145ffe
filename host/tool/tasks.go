package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// TasksInput says which background shells to list.
type TasksInput struct {
	All bool `json:"all,omitempty" jsonschema:"Include shells that ended in the last hour" schema:"default=false"`
}

// TasksOutput is the background shells of the session, the oldest first.
type TasksOutput struct {
	outcome
	Tasks []BackgroundShell `json:"tasks" jsonschema:"Background shells, the oldest first"`
	failure
}

// BackgroundShell is a background shell in an answer.
type BackgroundShell = shell.Shell

// Tasks lists background shells.
var Tasks = &definition[TasksInput, TasksOutput]{
	tool: Tool{
		Name:        "tasks",
		Title:       "List background shells",
		Set:         Shells,
		Description: `List the running background shells, with their ids.`,
		ReadOnly:    true,
		Idempotent:  true,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in TasksInput) (out TasksOutput, err error) {
		out.Tasks, err = shell.List(ctx, h, env.Session, in.All)
		return out, err
	},
}
