package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

// TasksInput says which background shells to list.
type TasksInput struct {
	All bool `json:"all,omitempty" jsonschema:"Also those that ended within the last hour" schema:"default=false"`
}

// TasksOutput is the background shells of the session, the oldest first.
type TasksOutput struct {
	outcome
	Tasks []BackgroundShell `json:"tasks" jsonschema:"Background shells, the oldest first"`
	Error string            `json:"error,omitempty" jsonschema:"Why there is no list"`
}

// BackgroundShell is one of them.
type BackgroundShell struct {
	ID          string       `json:"id" jsonschema:"ID for BashOutput and KillShell"`
	PID         int          `json:"pid,omitempty" jsonschema:"Main process while it runs" schema:"number"`
	Command     string       `json:"command" jsonschema:"Command line"`
	Description string       `json:"description,omitempty" jsonschema:"Description that Bash was given"`
	StartedAt   Timestamp    `json:"started_at" jsonschema:"When it was started"`
	EndedAt     Timestamp    `json:"ended_at,omitzero" jsonschema:"When it ended"`
	Status      shell.Status `json:"status" jsonschema:"How it is" schema:"enum=running|completed|killed|error"`
	ExitCode    *int         `json:"exit_code,omitempty" jsonschema:"Exit code once it has ended, 128+n after signal n" schema:"number"`
	OutputFile  string       `json:"output_file" jsonschema:"File that it writes to"`
	Session     string       `json:"session,omitempty" jsonschema:"Session that it belongs to"`
}

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
	run: func(ctx context.Context, h *host.Host, env Env, in TasksInput) (TasksOutput, error) {
		shells, err := shell.List(ctx, h, env.Session, in.All)
		if err != nil {
			return TasksOutput{}, err
		}
		list := make([]BackgroundShell, len(shells))
		for i, s := range shells {
			list[i] = BackgroundShell{
				ID: s.ID, PID: s.PID, Command: s.Command, Description: s.Description,
				StartedAt: Timestamp{s.Started}, EndedAt: Timestamp{s.Ended},
				Status: s.Status, ExitCode: s.ExitCode, OutputFile: s.OutputFile, Session: s.Session,
			}
		}
		return TasksOutput{outcome: outcome{true}, Tasks: list}, nil
	},
	failed: func(_ TasksInput, text string) TasksOutput {
		return TasksOutput{Tasks: []BackgroundShell{}, Error: text}
	},
}
