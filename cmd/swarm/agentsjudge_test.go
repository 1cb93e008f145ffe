//go:build agents

package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// judged is the state of the worker w with what the judgement adds.
type judged struct{ State, Source, Question, Command, Reason string }

func (l *lab) judged() judged {
	l.t.Helper()
	var status []struct{ State judged }
	out := l.swarm("status", "w", "--json")
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		var one struct{ State judged }
		if err := json.Unmarshal([]byte(out), &one); err != nil {
			l.t.Fatal(err)
		}
		return one.State
	}
	return status[0].State
}

// testAgentStopped: an agent whose key is refused is broken in each view, and a wait for idle
// fails with the reason. It continues with the next prompt.
func testAgentStopped(t *testing.T, l *lab) {
	l.ready()
	refused := modelserver.Turn{Status: 401, Text: "invalid x-api-key"}
	l.model.Script(refused, refused, refused)
	l.swarm("send", "w", "do it")
	l.stops("broken", 5)
	if out := l.swarm("ls"); !strings.Contains(out, " broken") {
		t.Errorf("ls:\n%s", out)
	}
	l.killed()
}

// stops waits until the agent has stopped with a state, by which a wait for idle fails.
func (l *lab) stops(state string, code int) {
	l.t.Helper()
	if !l.poll(func() bool { return l.judged().State == state }) {
		l.t.Fatalf("the state is %+v\n%s", l.judged(), l.swarm("explain", "w"))
	}
	r := l.try("", "wait", "w", "--until", "idle", "--timeout", agentWait.String())
	if r.code != code || !strings.Contains(r.err, fmt.Sprintf("'w' is %s: ", state)) {
		l.t.Errorf("wait: exit %d, %s", r.code, r.err)
	}
}

// testAgentLimited: a limit that the client's hooks report is one, whatever the screen says.
func testAgentLimited(t *testing.T, l *lab) {
	if l.client.name != "claude" {
		t.Skip("its hooks report no limit")
	}
	l.swarm("integrate", "claude")
	l.ready()
	limited := modelserver.Turn{Status: 429, Text: "You have hit your limit"}
	l.model.Script(limited, limited, limited, limited)
	l.swarm("send", "w", "do it")
	l.stops("limited", 4)
	if s := l.judged(); !strings.Contains(s.Reason, "You have hit your limit") {
		t.Errorf("the state is %+v", s)
	}
	l.killed()
}

// testAgentBackground: an agent whose turn has ended is not idle while its background command
// runs, which its hooks report.
func testAgentBackground(t *testing.T, l *lab) {
	if l.client.name != "claude" {
		t.Skip("its hooks report no background work")
	}
	l.swarm("integrate", "claude")
	l.ready()
	end := filepath.Join(l.project, "end")
	command := fmt.Sprintf("while ! [ -e %s ]; do sleep 0.2; done", end)
	l.model.Script(
		modelserver.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "Serve it", "run_in_background": true}},
		modelserver.Turn{Text: "started"}, modelserver.Turn{Text: "finished"},
	)
	l.swarm("send", "w", "serve it")
	if !l.poll(func() bool {
		s := l.judged()
		if s.State == "blocked" {
			l.swarm("answer", "w", "Yes")
		}
		return s.State == "background"
	}) {
		t.Fatalf("the state is %+v\n%s", l.judged(), l.swarm("explain", "w"))
	}
	if s := l.judged(); s.State == "background" && !strings.Contains(s.Reason, "Serve it") {
		t.Errorf("the state is %+v", s)
	}
	l.write(end, "")
	l.until("idle")
	l.shows("finished")
	l.killed()
}

// testAgentQuestion: the question of a dialog has the whole command, as the hook reports it.
func testAgentQuestion(t *testing.T, l *lab) {
	const command = "touch one.txt && touch two.txt"
	l.swarm("integrate", l.client.name)
	l.spawn(nil)
	if l.client.name == "codex" {
		l.shows("Hooks need review")
		l.swarm("answer", "w", "2")
	}
	l.swarm("wait", "w", "--until", "idle", "--timeout", pluginWait.String())
	l.model.Script(l.client.shell(command))
	l.swarm("send", "w", "run it")
	// The hook may report it before the dialog is drawn.
	var s judged
	if !l.poll(func() bool { s = l.judged(); return s.State == "blocked" && s.Source == "screen" }) ||
		!strings.Contains(s.Question, command) || !strings.Contains(s.Command, command) {
		t.Errorf("the state is %+v\n%s", s, l.swarm("explain", "w"))
	}
	l.killed()
}
