package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/tool"
)

func TestKilledAgentLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase string
		tasks []string
		want  string
	}{
		{phaseRequested, nil, "requested shutdown of alice"},
		{phaseApproved, nil, "alice approved the shutdown and goes on until it is ready"},
		{phaseRejected, nil, "alice rejected the shutdown"},
		{phaseConfirmed, nil, "killed alice"},
		{phaseConfirmed, []string{"task-1"}, "killed alice (reassigned: task-1)"},
		{phaseForceKilled, nil, "killed alice (force)"},
		{phaseForceKilled, []string{"task-1", "task-2"}, "killed alice (force; reassigned: task-1, task-2)"},
	} {
		if got := killedAgentLine("alice", tool.KillAgentOutput{Phase: c.phase, ReassignedTasks: c.tasks}); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.phase, c.tasks, got, c.want)
		}
	}
}

func TestMessageText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, body, want string }{
		{"plain", "a\nb", "a\nb"},
		{"plain", `{"reason":"x"}`, `{"reason":"x"}`},
		{"system", "Agent a became inactive", "Agent a became inactive"},
		{messageShutdown, `{"reason":"done"}`, "asks you to shut down: done\nanswer with 'swarm shutdown approve' or 'swarm shutdown reject REASON'"},
		{messageShutdown, `{}`, "asks you to shut down\nanswer with 'swarm shutdown approve' or 'swarm shutdown reject REASON'"},
		{messageShutdown, `not JSON`, "not JSON"},
		{messageAnswered, `{"approved":true,"phase":"confirmed"}`, "approved the shutdown and has ended"},
		{messageAnswered, `{"approved":true,"phase":"approved"}`, "approved the shutdown and goes on until it is ready"},
		{messageAnswered, `{"approved":false,"phase":"rejected","responseReason":"busy"}`, "rejected the shutdown: busy"},
	} {
		if got := messageText(tool.Message{Type: c.kind, Message: c.body}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.body, got, c.want)
		}
	}
}

// What agents write can do nothing to a terminal, and its lines can't be taken for
// others.
func TestPrintMessages(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := testApp()
	out := tool.ReadMessagesOutput{Remaining: 3, Messages: []tool.Message{
		{ID: "1", From: "agent-a1b2c3", Type: "plain", Message: "one\r\n\x1b[31mtwo\n\n", Timestamp: tool.Timestamp{Time: time.Now()}},
		{ID: "2", From: "agent-a1b2c3", Type: "plain", Message: "", Timestamp: tool.Timestamp{Time: time.Now().Add(-time.Hour)}, Read: true},
	}}
	a.printMessages(out, func(id string) string { return map[string]string{"agent-a1b2c3": "alice"}[id] })
	const want = "1 alice (0s ago)\n  one\n  \\x1b[31mtwo\n\n2 alice (1h ago, read before)\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got := stderr.String(); got != "swarm: 3 more: run it again\n" {
		t.Errorf("hint %q", got)
	}
}

func TestAgentTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ago time.Duration) tool.Timestamp { return tool.Timestamp{Time: now.Add(-ago)} }
	s := tool.AgentStatus{
		AgentID: "agent-a1b2c3", Name: "alice", Role: "worker", Status: "active", IsActive: true, Model: "opus",
		HeartbeatAge: 61.5, SessionID: "k3x9", Worker: "web-alice", PaneID: "%3", Cwd: "/r\x1b", LastError: "x\ny", SessionRotationCount: 2,
		Color: "#FF6B6B", CreatedAt: at(time.Hour), TerminatedAt: at(time.Minute),
	}
	if got := agentLine(s); got != "alice: active (agent-a1b2c3, worker)" {
		t.Error(got)
	}
	want := []string{
		"  model              opus",
		"  last sign of life  1m ago (late)",
		"  worker             web-alice",
		"  pane               %3",
		`  directory          /r\x1b`,
		`  last error         x\ny`,
		"  started again      2 times",
		"  colour             #FF6B6B",
		"  spawned            1h ago",
		"  terminated         1m ago",
	}
	if diff := cmp.Diff(want, tableLines(nil, agentFacts(s, now))); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	for got, want := range map[string]string{
		summaryLine(tool.AgentSummary{}):                                                  "no agents",
		summaryLine(tool.AgentSummary{Total: 1, Idle: 1}):                                 "1 agent: 1 idle",
		summaryLine(tool.AgentSummary{Total: 4, Active: 1, Inactive: 1, ShuttingDown: 1}): "4 agents: 1 spawning, 1 active, 1 inactive, 1 shutting down",
		serverLine(tool.TeamServer{Hostname: "127.0.0.1", Port: 80}, now):                 "server: not running (was at 127.0.0.1:80)",
		serverLine(tool.TeamServer{Hostname: "127.0.0.1", Port: 80, PID: 7, IsRunning: true, ActiveSessions: 2, StartedAt: at(time.Minute)}, now): "server: running at 127.0.0.1:80 (pid 7, 2 session(s), uptime 1m)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width       int
		env         string
		colour, dot string
	}{
		{80, "", "#FF6B6B", "\x1b[38;2;255;107;107m●\x1b[0m "},
		{80, "NO_COLOR=1", "#FF6B6B", ""},
		{80, "TERM=dumb", "#FF6B6B", ""},
		{0, "", "#FF6B6B", ""},
		{80, "", "red\x1b", ""},
		{80, "", "#1FF6B6B", ""},
	} {
		a, _, _ := testApp()
		a.env, a.outWidth = []string{c.env}, func() int { return c.width }
		if got := a.dot(c.colour); string(got) != c.dot {
			t.Errorf("%d columns, %q, %q: %q, want %q", c.width, c.env, c.colour, got, c.dot)
		}
	}
}

func TestIndented(t *testing.T) {
	t.Parallel()
	if got := indented("a\n\nb" + strings.Repeat("\n", 2)); got != "  a\n\n  b\n\n" {
		t.Errorf("%q", got)
	}
	if got := indented(""); got != "" {
		t.Errorf("nothing became %q", got)
	}
}

func TestTeamTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for got, want := range map[string]string{
		tasksLine(map[string]int{"in_progress": 2, "pending": 0, "completed": 1}):                   "3 tasks: 2 in progress, 1 completed",
		teamLine(agent.Team{Name: "web", Description: "a\nb", Created: now.Add(-time.Minute)}, now): `web: a\nb (led by a person, created 1m ago)`,
		teamLine(agent.Team{Name: "web", Leader: "boss", Created: now}, now):                        "web (led by boss, created 0s ago)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
