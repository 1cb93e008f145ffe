package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
)

type ReadShellInput struct {
	ShellID string `json:"shell_id" jsonschema:"task_id of Bash" schema:"min=1"`
	Filter  string `json:"filter,omitempty" jsonschema:"Regular expression: only lines that match; others count as read"`
}

type ReadShellOutput struct {
	outcome
	ShellID  string       `json:"shell_id" jsonschema:"ID of the shell"`
	Status   shell.Status `json:"status" jsonschema:"completed is exit code 0, killed is by KillShell or with its session, error is everything else" schema:"enum=running|completed|killed|error"`
	Output   string       `json:"output" jsonschema:"Its output since the last call, standard output and error merged"`
	ExitCode *int         `json:"exit_code,omitempty" jsonschema:"Exit code once it has ended, 128+n after signal n" schema:"number"`
	More     bool         `json:"more,omitempty" jsonschema:"There is more output already: call again"`
	failure
}

var bashOutput = &definition[ReadShellInput, ReadShellOutput]{
	tool: Tool{
		Name:  "BashOutput",
		Title: "Read a background shell",
		Set:   Shells,
		Description: `Return the output of a background shell since the last call, and its status. No output is
returned twice.`,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in ReadShellInput) (ReadShellOutput, error) {
		out, err := shell.Next(ctx, h, env.Session, in.ShellID, in.Filter)
		if wrong, ok := errors.AsType[*shell.FilterError](err); ok {
			err = invalid("filter", wrong.Err.Error())
		}
		if err != nil {
			return ReadShellOutput{}, err
		}
		return ReadShellOutput{
			ShellID:  out.Shell.ID,
			Status:   out.Shell.Status,
			Output:   shell.Ends(out.Text, maxCharacters, out.Shell.OutputFile),
			ExitCode: out.Shell.ExitCode,
			More:     out.More,
		}, nil
	},
	failed: func(in ReadShellInput) ReadShellOutput {
		return ReadShellOutput{ShellID: in.ShellID, Status: shell.Failed}
	},
}

func (out ReadShellOutput) text() string {
	if !out.Success {
		return ""
	}
	text := strings.TrimRight(out.Output, "\n")
	if text == "" {
		text = "(no new output)"
	}
	text += "\n[" + string(out.Status)
	if out.ExitCode != nil {
		text += fmt.Sprintf(", exit code %d", *out.ExitCode)
	}
	if out.More {
		text += "; there is more output already: call again"
	}
	return text + "]"
}

type TasksInput struct {
	All bool `json:"all,omitempty" jsonschema:"Include shells that ended in the last hour" schema:"default=false"`
}

type TasksOutput struct {
	outcome
	Tasks []shell.Shell `json:"tasks" jsonschema:"Background shells, the oldest first"`
	failure
}

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
