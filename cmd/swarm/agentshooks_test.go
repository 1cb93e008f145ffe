//go:build agents

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// testAgentHookAnswers answers what the agent asks through its hook: it runs the command, or does
// not, and nothing is typed.
func testAgentHookAnswers(t *testing.T, l *lab) {
	name := l.client.name
	if name != "claude" && name != "codex" && name != "qwen" {
		t.Skip("it has no hook that decides")
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
	for _, answer := range []string{"Allow", "Deny"} {
		file := filepath.Join(l.project, answer)
		l.model.Script(l.client.shell("touch "+file), modelserver.Turn{Text: "done"})
		l.swarm("send", "w", "make "+answer)
		if !asked() {
			t.Fatalf("no hook waits for an answer:\n%s\n%s", l.swarm("explain", "w"), l.peek())
		}
		if out := l.swarm("questions"); !strings.Contains(out, "touch "+file) {
			t.Errorf("questions:\n%s", out)
		}
		l.swarm("answer", "w", answer)
		l.prompted("make " + answer)
		l.swarm("wait", "w", "--until", "idle", "--timeout", agentWait.String())
		if _, err := os.Stat(file); (err == nil) != (answer == "Allow") {
			t.Errorf("after %s: %v\n%s", answer, err, l.peek())
		}
	}
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
