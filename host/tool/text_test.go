package tool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/shared/humane"
)

func TestText(t *testing.T) {
	t.Parallel()
	at := humane.Timestamp{Time: time.Unix(0, 0)}
	done := outcome{Success: true}
	for _, test := range []struct {
		name   string
		output any
		want   string
	}{
		{"a command", BashOutput{outcome: done, Result: shell.Result{Stdout: "a\nb\n"}}, "a\nb"},
		{"a silent command", BashOutput{outcome: done}, "(no output)"},
		{"a command that failed", BashOutput{Result: shell.Result{Stdout: "a\n", Stderr: "b\n", ExitCode: 2}}, "a\n[stderr]\nb\n[exit code 2]"},
		{"a command that took too long", bashOutputOf(shell.Result{Stdout: "a", ExitCode: 124, Problem: "Command timed out after 1s"}), "Error: Command timed out after 1s\na\n[exit code 124]"},
		{"output of a shell", ReadShellOutput{outcome: done, Status: "completed", Output: "x\n", ExitCode: new(0)}, "x\n[completed, exit code 0]"},
		{"no shell", ReadShellOutput{failure: failure{"Shell not found: bg-x"}, ShellID: "bg-x", Status: "error"}, "Error: Shell not found: bg-x\nshell_id: bg-x\nstatus: error\noutput: "},
		{"output of a worker", WorkerOutputOutput{outcome: done, Output: "x\n", Cursor: "c", Dropped: 3, Status: "running", More: true}, "[3 bytes of older output are left out]\nx\n[running; there is more already; cursor c]"},
		{"done", WorkerSendOutput{outcome: done}, "Done."},
		{"an empty list", TaskListOutput{outcome: done, Tasks: []Task{}}, "tasks: none"},
		{
			"a list",
			TaskListOutput{outcome: done, Tasks: []Task{{ID: "task-1", Title: "t", Description: "one\ntwo", Priority: "high", Status: "pending", CreatedAt: at, UpdatedAt: at, Dependencies: []string{"task-2", "task-3"}, Blocks: []string{}}}},
			"tasks:\n- id: task-1\n  title: t\n  description:\n    one\n    two\n  priority: high\n  status: pending\n  createdAt: 1970-01-01T00:00:00.000Z\n  updatedAt: 1970-01-01T00:00:00.000Z\n  dependencies: task-2, task-3\n  blocks: none",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Result{Output: test.output}.Text()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A command's own exit code is not a failure of the tool.
func TestOnlyCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		result          shell.Result
		success, failed bool
	}{
		{shell.Result{}, true, false},
		{shell.Result{ExitCode: 1}, false, true},
		{shell.Result{ExitCode: 124, Problem: "Command timed out"}, false, false},
	} {
		out := bashOutputOf(test.result)
		if settle(&out); out.Success != test.success || out.commandFailed() != test.failed {
			t.Errorf("%+v: success %v, command failed %v", test.result, out.Success, out.commandFailed())
		}
	}
}
