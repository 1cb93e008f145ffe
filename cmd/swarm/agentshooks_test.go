//go:build agents

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/integration"
	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// testAgentHookAnswers answers what the agent asks through its hook: it runs the command, does not,
// or asks on its screen, as it does when no answer comes in time.
func testAgentHookAnswers(t *testing.T, l *lab) {
	name := l.client.name
	if name != "claude" && name != "codex" && name != "qwen" {
		t.Skip("it has no hook that allows a command: that of Gemini CLI can only forbid one")
	}
	l.swarm("integrate", name, "--answers")
	l.spawn(nil)
	if name == "codex" {
		l.shows("Hooks need review")
		l.swarm("answer", "w", "2")
	}
	l.swarm("wait", "w", "--until", "idle", "--timeout", pluginWait.String())
	asked := func() (ok bool) {
		var status struct {
			State struct {
				State, Source string
				Choices       []struct{ Label string }
			}
		}
		return l.poll(func() bool {
			err := json.Unmarshal([]byte(l.swarm("status", "w", "--json")), &status)
			return err == nil && status.State.Source == "hook" && len(status.State.Choices) == 3 && status.State.Choices[0].Label == "Allow"
		})
	}
	for _, answer := range []string{"Allow", "Deny", "Ask on its screen"} {
		file := filepath.Join(l.project, strings.ReplaceAll(answer, " ", "-"))
		l.model.Script(l.client.shell("touch "+file), modelserver.Turn{Text: "done"})
		l.swarm("send", "w", "make "+answer)
		if !asked() {
			t.Fatalf("no hook waits for an answer:\n%s\n%s", l.swarm("explain", "w"), l.peek())
		}
		if out := l.swarm("questions"); !strings.Contains(out, "touch "+file) {
			t.Errorf("questions:\n%s", out)
		}
		l.swarm("answer", "w", answer)
		if strings.HasPrefix(answer, "Ask") {
			if !l.poll(func() bool { s := l.state(); return s.State == "blocked" && s.Source == "screen" }) {
				t.Fatalf("it does not ask on its screen:\n%s\n%s", l.swarm("explain", "w"), l.peek())
			}
			l.swarm("answer", "w", l.client.allow)
		}
		l.prompted("make " + answer)
		l.swarm("wait", "w", "--until", "idle", "--timeout", agentWait.String())
		if _, err := os.Stat(file); (err == nil) != (answer != "Deny") {
			t.Errorf("after %s: %v\n%s", answer, err, l.peek())
		}
		requests := l.model.Requests()
		if denied := bytes.Contains(requests[len(requests)-1].Body, []byte("The user has answered no, by swarm.")); denied && answer == "Allow" || !denied && answer == "Deny" {
			t.Errorf("after %s the model got a refusal: %v", answer, denied)
		}
	}
	l.swarm("integrate", name, "--remove")
}

// testAgentAllowTools wakes an agent, which reads its message without asking for the tool. It asks
// for the one that runs commands.
func testAgentAllowTools(t *testing.T, l *lab) {
	name := l.client.name
	if name == "opencode" {
		t.Skip("it asks for no tool of a server, unless its configuration says so")
	}
	if integration.Named(name) == nil {
		t.Skip("swarm does not integrate into it")
	}
	l.swarm("integrate", name, "--allow-tools")
	l.swarm("team", "create", "web")
	l.swarm(append([]string{"agent", "spawn", "--team", "web", "--name", "a", "--"}, l.client.command...)...)
	if name == "codex" {
		l.untilOf("web-a", "blocked") // hooks need a review
		l.swarm("answer", "web-a", "2")
	}
	l.swarm("wait", "web-a", "--until", "idle", "--timeout", pluginWait.String())
	l.model.Script(l.client.tool("read-messages", nil), modelserver.Turn{Text: "I have read it."})
	l.swarm("inbox", "send", "a", "look at the fence", "--team", "web")
	read := func() bool {
		return slices.ContainsFunc(l.results(), func(result string) bool { return strings.Contains(result, "look at the fence") })
	}
	if !l.poll(read) {
		t.Fatalf("the message was not read:\n%s\n%s", l.try("", "explain", "web-a").out, l.try("", "peek", "web-a").out)
	}
	l.untilOf("web-a", "idle")
	file := filepath.Join(l.project, "ran")
	l.model.Script(l.client.tool("Bash", map[string]any{"command": "touch " + file, "description": "Run it"}))
	l.swarm("send", "web-a", "run it")
	l.untilOf("web-a", "blocked")
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran before it was allowed")
	}
	l.swarm("kill", "web-a", "--timeout", "5s")
	l.swarm("integrate", name, "--remove")
}

// testAgentTeamTools has the agent create a team: it is offered the leader's tools in the same
// session.
func testAgentTeamTools(t *testing.T, l *lab) {
	name := l.client.name
	if name != "claude" {
		t.Skip("only Claude Code reads the list of tools again")
	}
	l.swarm("integrate", name, "--allow-tools")
	l.spawn(nil)
	l.swarm("wait", "w", "--until", "idle", "--timeout", pluginWait.String())
	l.model.Script(l.client.shell("swarm team create mine"), modelserver.Turn{Text: "created"}, modelserver.Turn{Text: "done"})
	l.swarm("send", "w", "create a team")
	l.swarm("wait", "w", "--until", "blocked", "--timeout", agentWait.String())
	l.swarm("answer", "w", "1")
	l.swarm("wait", "w", "--until", "idle", "--timeout", agentWait.String())
	l.swarm("send", "w", "what can you do")
	ctx, cancel := context.WithTimeout(t.Context(), agentWait)
	defer cancel()
	if _, err := l.model.Wait(ctx, func(r modelserver.Request) bool {
		return r.Turn && bytes.Contains(r.Body, []byte("mcp__swarm__spawn-agent"))
	}); err != nil {
		t.Errorf("the agent does not have the leader's tools: %v\n%s", err, l.peek())
	}
	l.swarm("integrate", name, "--remove")
}
