//go:build agents

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
	"github.com/swarmhost/swarm/host/hookstate"
)

// pluginWait is how long an agent may take to start after integrate: without a network,
// opencode looks for its plugin for two minutes at each start.
const pluginWait = 3 * agentWait

// testAgentIntegrate integrates swarm into the agent's configuration: the agent finds the
// server, its hooks report its state and its session, and bring it what waits for it; then
// all of it is taken out again.
func testAgentIntegrate(t *testing.T, l *lab) {
	name := l.client.name
	l.swarm("integrate", name)
	if out := l.swarm("integrate", name); !strings.HasPrefix(out, "nothing to do") {
		t.Errorf("the second call:\n%s", out)
	}
	if out := l.lists(name); !strings.Contains(out, "swarm mcp") && !strings.Contains(out, "/swarm") {
		t.Errorf("%s mcp list:\n%s", name, out)
	}

	l.spawn(nil)
	if name == "codex" {
		l.shows("Hooks need review")
		l.swarm("answer", "w", "2")
	}
	l.swarm("wait", "w", "--until", "idle", "--timeout", pluginWait.String())
	l.model.Script(modelserver.Turn{Text: "done"})
	l.swarm("send", "w", "do it")
	l.prompted("do it")
	var status struct {
		ID    string
		State struct{ State, Source string }
	}
	if !l.poll(func() bool {
		err := json.Unmarshal([]byte(l.swarm("status", "w", "--json")), &status)
		return err == nil && status.State.State == "idle" && status.State.Source == "hook"
	}) {
		t.Errorf("after a turn the state is %+v:\n%s", status.State, l.peek())
	}
	if session := hookstate.Session(filepath.Join(l.world.root, "s", "workers", status.ID)); session == "" {
		t.Error("the session is not known")
	}
	l.killed()

	// A message that comes in the middle of a turn is brought at its end.
	hold := make(chan struct{})
	l.model.Script(modelserver.Turn{Text: "first", Hold: hold}, modelserver.Turn{Text: "second"})
	l.swarm("team", "create", "web")
	l.swarm(append([]string{"agent", "spawn", "--team", "web", "--name", "a", "--"}, l.client.command...)...)
	l.swarm("wait", "web-a", "--until", "idle", "--timeout", pluginWait.String())
	l.swarm("send", "web-a", "begin")
	l.prompted("begin")
	l.swarm("inbox", "send", "a", "look at this", "--team", "web")
	close(hold)
	ctx, cancel := context.WithTimeout(t.Context(), agentWait)
	defer cancel()
	if _, err := l.model.Wait(ctx, func(r modelserver.Request) bool { return bytes.Contains(r.Body, []byte("1 new message for you")) }); err != nil {
		t.Errorf("the message was never brought: %v\n%s", err, l.try("", "peek", "web-a").out)
	}
	l.swarm("kill", "web-a")

	if out := l.swarm("integrate", name, "--remove"); !strings.Contains(out, "does not use swarm any more") {
		t.Errorf("removed:\n%s", out)
	}
	if out := l.lists(name); strings.Contains(out, "swarm mcp") {
		t.Errorf("after the removal, %s mcp list:\n%s", name, out)
	}
}

// lists returns the servers that the client lists.
func (l *lab) lists(client string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), pluginWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv(envAgents), client), "mcp", "list")
	cmd.Env, cmd.Dir = l.world.env, l.project
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s mcp list: %v\n%s", client, err, out)
	}
	return string(out)
}
