package mcpserver_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{Version: mcptest.Handshake})
	if text := c.InitializeResult().Instructions; !strings.Contains(text, "kill-agent") {
		t.Errorf("instructions: %q", text)
	}
	got := map[string]string{}
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		input := tool.InputSchema.(object)
		if tool.Description == "" || tool.Title == "" || input["type"] != "object" || tool.OutputSchema != nil {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		a := tool.Annotations
		got[tool.Name] = ""
		for hint, on := range map[string]bool{"r": a.ReadOnlyHint, "d": *a.DestructiveHint, "i": a.IdempotentHint, "o": *a.OpenWorldHint} {
			if on {
				got[tool.Name] += hint
			}
		}
	}
	want := []string{
		"Bash", "BashOutput", "KillShell", "tasks",
		"worker-spawn", "worker-list", "worker-status", "worker-output", "worker-send", "questions", "worker-answer", "worker-wait", "worker-kill", "spawn-team", "spawn-agent", "kill-agent", "get-agent-status", "peek-agent", "nudge-agent", "heartbeat",
		"send-message", "read-messages", "respond-shutdown", "task-create", "task-claim", "task-update", "task-list",
	}
	var names []string
	for name, hints := range got {
		names = append(names, name)
		readOnly := slices.Contains([]string{"tasks", "questions", "get-agent-status", "peek-agent", "task-list", "worker-list", "worker-status", "worker-output", "worker-wait"}, name)
		if strings.Contains(hints, "r") != readOnly || readOnly && strings.Contains(hints, "d") {
			t.Errorf("%s: hints %q", name, hints)
		}
		ends := name == "Bash" || name == "KillShell" || name == "kill-agent" || name == "worker-kill"
		if ends && !strings.Contains(hints, "d") {
			t.Errorf("%s: hints %q", name, hints)
		}
	}
	sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := cmp.Diff(want, names, sorted); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestShellTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	want := object{"success": true, "stdout": "<out> & ü\n", "stderr": "err\n", "exit_code": 0.0}
	if diff := cmp.Diff(want, c.call("Bash", object{"command": `echo "<out> & ü"; echo err >&2`}, false)); diff != "" {
		t.Errorf("Bash (-want +got):\n%s", diff)
	}
	if got := c.call("Bash", object{"command": "pwd"}, false)["stdout"]; got != w.path("")+"\n" {
		t.Errorf("the working directory is %q", got)
	}
	id := c.shell("echo begun; exec sleep 1000")
	c.w.until("the shell says so", func() bool {
		out := c.call("BashOutput", object{"shell_id": id}, false)
		return out["output"] == "begun\n" && out["status"] == "running"
	})
	tasks := c.call("tasks", object{}, false)["tasks"].([]any)
	if len(tasks) != 1 || tasks[0].(object)["id"] != id {
		t.Errorf("tasks: %v", tasks)
	}
	// Another session has its own shells.
	other := w.start(mcptest.Options{})
	wantNone := object{"success": false, "shell_id": id, "signal_sent": "SIGINT", "error": "Shell not found: " + id}
	if diff := cmp.Diff(wantNone, other.call("KillShell", object{"shell_id": id, "signal": "SIGINT"}, true)); diff != "" {
		t.Errorf("KillShell of another session (-want +got):\n%s", diff)
	}
	if tasks := other.call("tasks", object{}, false)["tasks"].([]any); len(tasks) != 0 {
		t.Errorf("tasks of another session: %v", tasks)
	}

	wantDead := object{"success": true, "shell_id": id, "signal_sent": "SIGTERM", "force_killed": false, "exit_code": 143.0}
	if diff := cmp.Diff(wantDead, c.call("KillShell", object{"shell_id": id}, false)); diff != "" {
		t.Errorf("KillShell (-want +got):\n%s", diff)
	}
	wantOnce := object{"success": true, "shell_id": id, "signal_sent": "none", "error": "Shell already killed", "exit_code": 143.0}
	ignore := cmpopts.IgnoreMapEntries(func(k string, _ any) bool { return k == "exit_code" })
	if diff := cmp.Diff(wantOnce, c.call("KillShell", object{"shell_id": id}, false), ignore); diff != "" {
		t.Errorf("KillShell again (-want +got):\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	id := c.shell("exec sleep 1000")
	for _, input := range []object{
		{"shell_id": id, "signal": "SIGSTOP"},
		{"shell_id": id, "timeout": 0},
		{"shell_id": id, "timeout": 1.5},
		{"shell_id": id, "force": "yes"},
		{"shell_id": id, "sginal": "SIGTERM"},
		{"shell_id": []string{id}},
		{},
	} {
		got := c.call("KillShell", input, true)
		if text, ok := got["error"].(string); !ok || !strings.HasPrefix(text, "invalid input: ") {
			t.Errorf("%v: %v", input, got)
		}
	}
	if out := c.call("BashOutput", object{"shell_id": id}, false); out["status"] != "running" {
		t.Errorf("after all this: %v", out)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "KillShel"}); err == nil || !strings.Contains(err.Error(), "KillShel") {
		t.Errorf("an unknown tool: %v", err)
	}
}

// TestTeamTools goes through the life of an agent that is a client too: its server runs
// below the main process of its worker.
func TestTeamTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lead := w.start(mcptest.Options{Version: mcptest.Handshake})
	lead.call("spawn-team", object{"teamName": "red"}, false)
	if got := lead.call("spawn-team", object{"teamName": "red"}, true)["error"]; got != "Team 'red' already exists" {
		t.Errorf("a second team: %v", got)
	}
	a := lead.call("spawn-agent", object{
		"teamName": "red", "name": "ann", "backend": "process",
		"command": []string{"sh", "-c", "mkfifo in out; echo $SWARM_TOKEN > token.new; mv token.new token; swarm mcp --tools shells,workers,teams < in > out; exec sleep 1000"},
	}, false)
	id := a["agentId"].(string)
	w.until("the agent has written its token", func() bool { return exists(w.path("token")) })
	token, err := os.ReadFile(w.path("token"))
	if err != nil {
		t.Fatal(err)
	}
	ann := w.connect(w.command(context.WithoutCancel(t.Context()), "sh", "-c", "cat out & exec cat > in"), mcptest.Options{Version: mcptest.Handshake})

	task := lead.call("task-create", object{"teamName": "red", "title": "build"}, false)["task"].(object)
	ann.call("task-claim", object{"teamName": "red", "taskId": task["id"]}, false)
	ann.call("task-update", object{"teamName": "red", "taskId": task["id"], "status": "completed"}, false)
	tasks := ann.call("task-list", object{"teamName": "red"}, false)["tasks"].([]any)
	if len(tasks) != 1 || tasks[0].(object)["status"] != "completed" || tasks[0].(object)["owner"] != id {
		t.Errorf("tasks: %v", tasks)
	}
	ann.call("heartbeat", object{"teamName": "red", "status": "idle"}, false)
	lead.call("send-message", object{"teamName": "red", "to": "ann", "message": "well done"}, false)
	messages := ann.call("read-messages", object{"teamName": "red"}, false)["messages"].([]any)
	if len(messages) != 1 || messages[0].(object)["message"] != "well done" || messages[0].(object)["from"] != "leader" {
		t.Errorf("messages: %v", messages)
	}
	status := ann.call("get-agent-status", object{"teamName": "red"}, false)["agents"].([]any)
	if len(status) != 1 || status[0].(object)["status"] != "idle" {
		t.Errorf("status: %v", status)
	}
	want := object{
		"success": false, "method": "force", "phase": "requested", "reassignedTasks": []any{},
		"error": "Only the team leader can kill agents",
	}
	if diff := cmp.Diff(want, ann.call("kill-agent", object{"teamName": "red", "agentId": id, "force": true}, true)); diff != "" {
		t.Errorf("kill-agent by an agent (-want +got):\n%s", diff)
	}
	lead.call("kill-agent", object{"teamName": "red", "agentId": id, "reason": "done"}, false)
	if got := ann.call("respond-shutdown", object{"teamName": "red", "approve": true}, false); got["phase"] != "confirmed" {
		t.Errorf("respond-shutdown: %v", got)
	}
	w.until("the agent has ended", func() bool { return len(w.alive("mkfifo in out")) == 0 })
	late := w.start(mcptest.Options{}, "SWARM_TOKEN="+strings.TrimSpace(string(token)))
	if got := late.call("heartbeat", object{"teamName": "red"}, true)["error"]; got != "Unknown agent token" {
		t.Errorf("heartbeat with the token of one that is gone: %v", got)
	}
	wantGone := object{
		"success": false, "method": "graceful", "phase": "requested", "reassignedTasks": []any{},
		"error": "Agent '" + id + "' is already terminated",
	}
	if diff := cmp.Diff(wantGone, lead.call("kill-agent", object{"teamName": "red", "agentId": id}, true)); diff != "" {
		t.Errorf("kill-agent again (-want +got):\n%s", diff)
	}
}

// TestConfig: what a project says of agents counts where they are spawned, and its
// mistakes nowhere else.
func TestConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	file := filepath.Join(w.dir, "w", "swarm.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.call("spawn-team", object{"teamName": "red"}, false)
	spawn := object{"teamName": "red", "backend": "process"}
	if got := c.call("spawn-agent", spawn, true)["error"]; got == "" {
		t.Error("an agent without a command was spawned")
	}
	write("[team]\nagent_command = [\"sleep\", \"1001\"]\n")
	if got := c.call("spawn-agent", spawn, true)["error"].(string); !strings.Contains(got, "swarm.toml:2") || !strings.Contains(got, "not trusted") {
		t.Errorf("with a file that is not trusted: %q", got)
	}
	w.swarm("config", "trust")
	c.call("spawn-agent", spawn, false)
	if len(w.alive("sleep 1001")) == 0 {
		t.Error("the command of the config does not run")
	}
	write("[team]\nagent_command = 5\n")
	if got := c.call("spawn-agent", spawn, true)["error"].(string); !strings.Contains(got, "swarm.toml:2") {
		t.Errorf("with a mistake in the file: %q", got)
	}
	c.call("Bash", object{"command": "true"}, false)
	c.call("get-agent-status", object{"teamName": "red"}, false)
}
