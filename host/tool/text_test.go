package tool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	t.Parallel()
	at := Timestamp{time.Unix(0, 0)}
	for _, test := range []struct {
		name   string
		output any
		want   string
	}{
		{"a command", BashOutput{outcome: outcome{true}, Stdout: "a\nb\n"}, "a\nb"},
		{"a silent command", BashOutput{outcome: outcome{true}}, "(no output)"},
		{"a command that failed", BashOutput{Stdout: "a\n", Stderr: "b\n", ExitCode: 2}, "a\n[stderr]\nb\n[exit code 2]"},
		{"a command that took too long", BashOutput{Stdout: "a", ExitCode: 124, Error: "Command timed out after 1s"}, "Error: Command timed out after 1s\na\n[exit code 124]"},
		{"output of a shell", ReadShellOutput{outcome: outcome{true}, Status: "completed", Output: "x\n", ExitCode: new(0)}, "x\n[completed, exit code 0]"},
		{"no shell", ReadShellOutput{ShellID: "bg-x", Status: "error", Error: "Shell not found: bg-x"}, "Error: Shell not found: bg-x\nshell_id: bg-x\nstatus: error\noutput: "},
		{"output of a worker", WorkerOutputOutput{outcome: outcome{true}, Output: "x\n", Cursor: "c", Dropped: 3, Status: "running", More: true}, "[3 bytes of older output are left out]\nx\n[running; there is more already; cursor c]"},
		{"done", WorkerSendOutput{outcome: outcome{true}}, "Done."},
		{"an empty list", TaskListOutput{outcome: outcome{true}, Tasks: []Task{}}, "tasks: none"},
		{
			"a list",
			TaskListOutput{outcome: outcome{true}, Tasks: []Task{{ID: "task-1", Title: "t", Description: "one\ntwo", Priority: "high", Status: "pending", CreatedAt: at, UpdatedAt: at, Dependencies: []string{"task-2", "task-3"}, Blocks: []string{}}}},
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
	if !(BashOutput{ExitCode: 1}).onlyCommand() {
		t.Error("exit code 1 is a failure of the tool")
	}
	if (BashOutput{ExitCode: 124, Error: "Command timed out"}).onlyCommand() {
		t.Error("onlyCommand is true for a command that timed out")
	}
}
