package member

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/shared/humane"
)

func TestAgentTexts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ago time.Duration) humane.Timestamp { return humane.Timestamp{Time: now.Add(-ago)} }
	s := agent.Agent{
		AgentID: "agent-a1b2c3", Name: "alice", Role: "worker", Status: "active", IsActive: true, Model: "opus",
		HeartbeatAge: 61.5, SessionID: "k3x9", Worker: "web-alice", PaneID: "%3", Cwd: "/r\x1b", LastError: "x\ny", SessionRotationCount: 2,
		Color: "#FF6B6B", CreatedAt: at(time.Hour), TerminatedAt: at(time.Minute),
	}
	if got := AgentLine(s); got != "alice: active (agent-a1b2c3, worker)" {
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
	if diff := cmp.Diff(want, output.TableLines(nil, AgentFacts(s, now))); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	for got, want := range map[string]string{
		SummaryLine(agent.Summary{}):                                                  "no agents",
		SummaryLine(agent.Summary{Total: 1, Idle: 1}):                                 "1 agent: 1 idle",
		SummaryLine(agent.Summary{Total: 4, Active: 1, Inactive: 1, ShuttingDown: 1}): "4 agents: 1 spawning, 1 active, 1 inactive, 1 shutting down",
		ServerLine(agent.Server{Hostname: "127.0.0.1", Port: 80}, now):                "server: not running (was at 127.0.0.1:80)",
		ServerLine(agent.Server{Hostname: "127.0.0.1", Port: 80, PID: 7, IsRunning: true, ActiveSessions: 2, StartedAt: at(time.Minute)}, now): "server: running at 127.0.0.1:80 (pid 7, 2 session(s), uptime 1m)",
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
		a, _, _ := apptest.New()
		a.Env, a.OutWidth = []string{c.env}, func() int { return c.width }
		if got := Dot(a, c.colour); string(got) != c.dot {
			t.Errorf("%d columns, %q, %q: %q, want %q", c.width, c.env, c.colour, got, c.dot)
		}
	}
}
