//go:build agents

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// edit changes a JSON file of the client's configuration.
func (l *lab) edit(path string, change func(map[string]any)) {
	l.t.Helper()
	path = filepath.Join(l.home, path)
	text, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		l.t.Fatalf("%s: %v", path, err)
	}
	change(v)
	l.write(path, asJSON(v))
}

// connect adds swarm's MCP server to the client's configuration, whose tools need no
// permission.
func (l *lab) connect() {
	l.t.Helper()
	server := map[string]any{"command": "swarm", "args": []string{"mcp"}}
	trusted := map[string]any{"command": "swarm", "args": []string{"mcp"}, "trust": true}
	switch l.client.name {
	case "claude":
		l.edit(".claude.json", func(v map[string]any) { v["mcpServers"] = map[string]any{"swarm": server} })
		l.edit(".claude/settings.json", func(v map[string]any) {
			v["permissions"] = map[string]any{"defaultMode": "default", "allow": []string{"mcp__swarm"}}
		})
	case "codex":
		path := filepath.Join(l.home, ".codex/config.toml")
		text, err := os.ReadFile(path)
		if err != nil {
			l.t.Fatal(err)
		}
		l.write(path, string(text)+`
[mcp_servers.swarm]
command = "swarm"
args = ["mcp"]
env_vars = ["SWARM_DIR", "TMUX_TMPDIR"]
default_tools_approval_mode = "approve"
`)
	case "opencode":
		l.edit(".config/opencode/opencode.json", func(v map[string]any) {
			v["mcp"] = map[string]any{"swarm": map[string]any{"type": "local", "command": []string{"swarm", "mcp"}, "enabled": true}}
		})
	case "gemini", "qwen":
		l.edit("."+l.client.name+"/settings.json", func(v map[string]any) { v["mcpServers"] = map[string]any{"swarm": trusted} })
	default:
		l.t.Fatalf("it is not known how %s learns of an MCP server", l.client.name)
	}
}

// tool returns the turn in which the model asks for a tool of swarm's server.
func (c client) tool(name string, input map[string]any) modelserver.Turn {
	turn := modelserver.Turn{Tool: "mcp__swarm__" + name, Input: input}
	switch c.name {
	case "codex":
		turn.Tool, turn.Namespace = strings.ReplaceAll(name, "-", "_"), "mcp__swarm"
	case "gemini":
		turn.Tool = "mcp_swarm_" + name
	case "opencode":
		turn.Tool = "swarm_" + name
	}
	return turn
}

// call has the worker's model call a tool of swarm's server and returns the answer. Other
// workers must not ask the model meanwhile.
func (l *lab) call(worker, tool string, input map[string]any) string {
	l.t.Helper()
	l.model.Script(l.client.tool(tool, input))
	asked := len(l.model.Requests())
	prompt := fmt.Sprintf("call %s, number %d", tool, len(l.model.Requests()))
	l.swarm("send", worker, prompt)
	l.prompted(prompt)
	// The request after the first one of this turn has the answer.
	answered := l.poll(func() bool { return len(l.model.Requests()) >= asked+2 })
	results := l.results()
	if !answered || len(results) == 0 {
		l.t.Fatalf("the answer of %s did not come: %q\nthe screen:\n%s", tool, results, l.try("", "peek", worker).out)
	}
	l.untilOf(worker, "idle")
	return results[len(results)-1]
}

// results are the answers of tools in the newest request.
func (l *lab) results() []string {
	all := l.model.Requests()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1].Results
}

// testAgentConnect has the model call a tool of swarm's server, which knows whom it serves.
func testAgentConnect(t *testing.T, l *lab) {
	l.connect()
	l.ready()
	answer := l.call("w", "worker-list", nil)
	if !regexp.MustCompile(`(?s)\bw\b.*running`).MatchString(answer) {
		t.Errorf("the answer of worker-list does not name the worker: %q", answer)
	}
	answer = l.call("w", "worker-status", map[string]any{"name": "absent"})
	if !strings.Contains(answer, "absent") {
		t.Errorf("worker-status answered %q, want an error", answer)
	}
	l.killed()
}

// testAgentShells kills the agent while a shell of its session runs, with something that it
// started away from it.
func testAgentShells(t *testing.T, l *lab) {
	l.background()
	l.killed()
	l.noShells()
}

// testAgentSessionEnd ends the agent by its own command while a shell of its session runs.
func testAgentSessionEnd(t *testing.T, l *lab) {
	l.background()
	l.swarm("send", "w", l.client.quit)
	l.swarm("wait", "w", "--timeout", agentWait.String())
	l.noShells()
}

// background has the model start a background shell.
func (l *lab) background() {
	l.t.Helper()
	l.connect()
	l.ready()
	mark := filepath.Join(l.project, "started")
	answer := l.call("w", "Bash", map[string]any{
		"command": "setsid sleep 600 & touch " + mark + "; sleep 600", "description": "Run it", "run_in_background": true,
	})
	if !l.poll(func() bool { _, err := os.Stat(mark); return err == nil }) {
		l.t.Fatalf("the shell never ran: %q\n%s", answer, l.peek())
	}
	if len(l.sleeps()) != 2 {
		l.t.Errorf("what runs:\n%s", list(l.world.processes(nil)))
	}
}

func (l *lab) sleeps() []process {
	return l.world.processes(func(p process) bool { return strings.HasPrefix(p.command, "sleep") })
}

// noShells waits until the shells of the session have ended: its server ends them when it
// sees that its client is gone.
func (l *lab) noShells() {
	l.t.Helper()
	if !l.world.poll(10*time.Second, func() bool { return len(l.sleeps()) == 0 }) {
		l.t.Errorf("shells of the session live on:\n%s", list(l.sleeps()))
	}
}

// testAgentIdentity starts two agents of one team. The server of each acts as its own agent.
func testAgentIdentity(t *testing.T, l *lab) {
	l.connect()
	l.swarm("team", "create", "lab")
	agents := []string{"alice", "bob"}
	for _, name := range agents {
		prompt := "you are " + name + ", wait!"
		l.swarm(append([]string{"agent", "spawn", "--team", "lab", "--name", name, "--prompt", prompt, "--"}, l.client.command...)...)
		l.prompted(prompt)
		l.once(prompt)
		l.untilOf("lab-"+name, "idle")
	}
	var team struct {
		Agents []struct{ AgentID, Name string }
	}
	if err := json.Unmarshal([]byte(l.swarm("agent", "ls", "--team", "lab", "--json")), &team); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, a := range team.Agents {
		ids[a.Name] = a.AgentID
	}
	for _, name := range agents {
		l.call("lab-"+name, "send-message", map[string]any{"to": "leader", "message": "this is " + name + " itself"})
		got := l.swarm("inbox", "read", "--team", "lab", "--json")
		if !strings.Contains(got, "this is "+name+" itself") || !strings.Contains(got, `"from": "`+ids[name]+`"`) {
			t.Errorf("the leader read: %s", got)
		}
	}
	for _, name := range agents {
		// A line about it would be a turn of its own, whose request has no answer of a tool.
		l.swarm("inbox", "send", name, "only for "+name, "--team", "lab", "--no-wake")
	}
	for i, name := range agents {
		answer := l.call("lab-"+name, "read-messages", nil)
		if !strings.Contains(answer, "only for "+name) || strings.Contains(answer, "only for "+agents[1-i]) {
			t.Errorf("%s read: %s", name, answer)
		}
	}
	for _, name := range agents {
		if state := l.swarm("status", "lab-"+name); !strings.Contains(state, "running") {
			t.Errorf("%s: %s", name, state)
		}
	}
}
