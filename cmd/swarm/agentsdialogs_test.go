//go:build agents

package main_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// asks waits for a dialog and returns it. Its question must have each of the texts, and its
// choices each of the labels.
func (l *lab) asks(texts, labels []string) agentState {
	l.t.Helper()
	var state agentState
	ok := l.poll(func() bool {
		state = l.state()
		return state.State == "blocked" && !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(state.Question, text) }) &&
			!slices.ContainsFunc(labels, func(label string) bool { return state.choice(label) < 0 })
	})
	if !ok {
		l.t.Fatalf("want a question with %q and the choices %q, got %+v\n%s", texts, labels, state, l.try("", "explain", "w").out)
	}
	return state
}

func (s agentState) choice(label string) int {
	for i, c := range s.Choices {
		if c.Label == label {
			return i
		}
	}
	return -1
}

// kind fails the test unless the choice with a label is of a kind, and has a box or none.
func (s agentState) kind(t *testing.T, label, kind string, box bool) {
	t.Helper()
	if c := s.Choices[s.choice(label)]; c.Kind != kind || (c.Checked != nil) != box {
		t.Errorf("the choice %q is %+v", label, c)
	}
}

// testAgentDialogs meets the dialogs of Claude Code that have no line about Escape, boxes, or
// another title: none of them is unknown, and each is asked about whole.
func testAgentDialogs(t *testing.T, l *lab) {
	if l.client.name != "claude" {
		t.Skip("these are dialogs of Claude Code")
	}
	server := map[string]any{"command": filepath.Join(bin, "swarm"), "args": []string{"mcp"}}
	l.write(filepath.Join(l.project, ".mcp.json"), asJSON(map[string]any{"mcpServers": map[string]any{"swarm": server, "other": server}}))
	l.spawn(nil)
	servers := l.asks([]string{"2 new MCP servers found"}, []string{"swarm", "other", "Enable selected"})
	servers.kind(t, "other", "", true)
	servers.kind(t, "Enable selected", "submit", false)
	l.swarm("answer", "w", "Enable selected")
	l.until("idle")

	question := func(text, header string, several bool, labels ...string) map[string]any {
		var options []map[string]string
		for _, label := range labels {
			options = append(options, map[string]string{"label": label, "description": "It is " + label})
		}
		return map[string]any{"question": text, "header": header, "multiSelect": several, "options": options}
	}
	l.model.Script(modelserver.Turn{Tool: "AskUserQuestion", Input: map[string]any{"questions": []any{
		question("Which spreads do you like?", "Spreads", true, "Honey", "Jam"), question("Which bread?", "Bread", false, "Rye", "Wheat"),
	}}})
	l.swarm("send", "w", "ask me")
	boxes := l.asks([]string{"Which spreads do you like?"}, []string{"Honey", "Jam", "Type something", "Next"})
	boxes.kind(t, "Honey", "", true)
	boxes.kind(t, "Type something", "text", true)
	boxes.kind(t, "Next", "submit", false)
	l.swarm("keys", "w", "1")
	if !l.poll(func() bool { c := l.state().Choices; return len(c) > 0 && c[0].Checked != nil && *c[0].Checked }) {
		t.Errorf("Honey is not checked: %+v\n%s", l.state(), l.peek())
	}
	l.swarm("answer", "w", "Next")
	l.asks([]string{"Which bread?"}, []string{"Rye", "Type something."})
	l.swarm("answer", "w", "Rye")
	review := l.asks([]string{"Review your answers", "Honey", "Rye"}, []string{"Submit answers", "Cancel"})
	review.kind(t, "Submit answers", "submit", false)
	l.swarm("answer", "w", "Submit answers")
	l.until("idle")

	l.model.Script(modelserver.Turn{Tool: "Bash", Input: map[string]any{"command": "rm -rf / && git push --force", "description": "Clean"}})
	l.swarm("send", "w", "clean up")
	l.asks([]string{"rm -rf / && git push --force", "Dangerous rm operation"}, []string{"Yes", "No"})
	l.swarm("answer", "w", "No")
	l.until("idle")

	l.model.Script(modelserver.Turn{Tool: "mcp__swarm__Bash", Input: map[string]any{"command": "rm -rf precious"}})
	l.swarm("send", "w", "use the tool")
	l.asks([]string{"swarm", "(MCP)", "rm -rf precious"}, []string{"Yes", "No"})
	l.swarm("answer", "w", "No")
	l.until("idle")

	step := 0
	l.model.Answer(func(r modelserver.Request) modelserver.Turn {
		step++
		switch path := planFile.FindString(string(r.Body)); {
		case step == 1:
			return modelserver.Turn{Tool: "EnterPlanMode"}
		case step == 2 && path != "":
			return modelserver.Turn{Tool: "Write", Input: map[string]any{"file_path": path, "content": "# A plan\n\n1. Delete the old files\n2. Run the tests\n"}}
		case step == 3:
			return modelserver.Turn{Tool: "ExitPlanMode"}
		default:
			return modelserver.Turn{Text: "It is done."}
		}
	})
	l.swarm("send", "w", "make a plan")
	plan := l.asks([]string{"Would you like to proceed?", "1. Delete the old files ⏎ 2. Run the tests"}, []string{"Yes, manually approve edits", "Tell Claude what to change"})
	plan.kind(t, "Tell Claude what to change", "text", false)
	l.swarm("answer", "w", "Yes, manually approve edits")
	l.until("idle")
	l.killed()
}

// planFile matches the file that Claude Code names for a plan.
var planFile = regexp.MustCompile(`/[^"\\ ]*/plans/[^"\\ ]*\.md`)

// prose is an answer that quotes what clients themselves show.
const prose = `The screen says: You've hit your usage limit. Please run /login

⎿ You've hit your limit · resets 2am

✕ [API Error: 401]

Failed to login, Unauthorized, authentication failed

■ You've hit your usage limit

• Working (3s • esc to interrupt)

Thinking (esc to cancel, 3s)`

// testAgentProse has the model quote errors, limits and signs of work: none of them counts.
func testAgentProse(t *testing.T, l *lab) {
	l.ready()
	l.model.Script(modelserver.Turn{Text: prose})
	l.swarm("send", "w", "what does the screen say")
	l.prompted("what does the screen say")
	l.shows("esc to cancel, 3s")
	l.until("idle")
	if state := l.state(); state.State != "idle" || state.Broken != "" {
		t.Errorf("%+v\n%s", state, l.try("", "explain", "w").out)
	}
	l.killed()
}

// testAgentLimit: a usage limit is one, and the prompt below it does not count as a dialog.
func testAgentLimit(t *testing.T, l *lab) {
	command, reached := l.limit()
	l.spawnAs(command...)
	l.until("idle")
	l.model.Script(reached)
	l.swarm("send", "w", "reach the limit")
	l.shows(`hit your .*limit`)
	var state agentState
	limited := l.poll(func() bool { state = l.state(); return strings.Contains(state.Broken, "hit your") })
	if !limited || state.State == "blocked" || state.Question != "" {
		t.Errorf("%+v\n%s", state, l.try("", "explain", "w").out)
	}
	l.killed()
}

// subscribed is Claude Code with an account, which has limits.
var subscribed = []string{"env", "-u", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test", "claude"}

// limit returns the command of a client that the model can make reach a usage limit, and the answer
// at one that ends in five hours.
func (l *lab) limit() (command []string, reached modelserver.Turn) {
	l.t.Helper()
	switch l.client.name {
	case "claude":
		return subscribed, fiveHours()
	case "codex":
		return l.client.command, modelserver.Turn{
			Status: http.StatusTooManyRequests, Kind: "usage_limit_reached", Text: "limit",
			More: map[string]any{"plan_type": "plus", "resets_at": time.Now().Add(5 * time.Hour).Unix()},
		}
	}
	l.t.Skip("the model can't make it reach a usage limit: that comes from its vendor's account")
	return nil, reached
}

// fiveHours is the answer of Claude Code's vendor.
func fiveHours() modelserver.Turn {
	return modelserver.Turn{Status: http.StatusTooManyRequests, Kind: "rate_limit_error", Text: "limit", Header: map[string]string{
		"anthropic-ratelimit-unified-status":                  "rejected",
		"anthropic-ratelimit-unified-reset":                   strconv.FormatInt(time.Now().Add(5*time.Hour).Unix(), 10),
		"anthropic-ratelimit-unified-representative-claim":    "five_hour",
		"anthropic-ratelimit-unified-overage-status":          "rejected",
		"anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
	}}
}

// spawnAs starts a command as the worker w.
func (l *lab) spawnAs(command ...string) {
	l.t.Helper()
	l.swarm(append([]string{"spawn", "--name", "w", "--tmux", "--"}, command...)...)
}

// testAgentSignIn: how to sign in is a question with its choices.
func testAgentSignIn(t *testing.T, l *lab) {
	command := []string{"env"}
	var texts, labels []string
	switch l.client.name {
	case "gemini":
		texts, labels = []string{"How would you like to authenticate"}, []string{"Use Gemini API Key"}
		l.write(filepath.Join(l.home, ".gemini/settings.json"), `{"security": {"folderTrust": {"enabled": true}}}`)
	case "qwen":
		texts, labels = []string{"Connect a Provider"}, []string{"Custom Provider"}
		l.write(filepath.Join(l.home, ".qwen/settings.json"), `{"general": {"enableAutoUpdate": false}}`)
	default:
		t.Skip("it has no such picker, or its other cases meet it")
	}
	for _, variable := range l.client.env("") {
		if name, value, _ := strings.Cut(variable, "="); value != "" && name != "NO_BROWSER" {
			command = append(command, "-u", name)
		}
	}
	l.spawnAs(append(command, l.client.command[0])...)
	state := l.asks(texts, labels)
	t.Log(fmt.Sprint(state))
	if len(state.Choices) != 3 {
		t.Errorf("%+v\n%s", state, l.peek())
	}
	l.killed()
}
