package member

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/humane"
)

// PrintAgents prints a table, with a dot before each agent in its colour.
func PrintAgents(a *app.App, agents []agent.Agent) {
	rows := make([][]string, len(agents))
	for i, s := range agents {
		rows[i] = []string{s.Name, s.AgentID, string(s.Role), string(s.Status), heartbeatText(s), s.Worker, output.OrDash(s.Model)}
	}
	header := []string{"NAME", "ID", "ROLE", "STATUS", "LAST SEEN", "WORKER", "MODEL"}
	if slices.ContainsFunc(agents, func(s agent.Agent) bool { return s.State != "" }) {
		header = append(header, "STATE")
		for i, s := range agents {
			rows[i] = append(rows[i], output.OrDash(s.State))
		}
	}
	for i, line := range output.TableLines(header, rows) {
		switch {
		case !a.Colours():
		case i == 0:
			line = "  " + line
		default:
			line = string(Dot(a, agents[i-1].Color)) + line
		}
		a.Printf("%s\n", output.Made(line))
	}
}

// Dot is a dot in a colour as #RRGGBB, and a blank; nothing without colours.
func Dot(a *app.App, colour string) output.Made {
	rgb, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 24)
	if err != nil || !a.Colours() {
		return ""
	}
	return output.Made(fmt.Sprintf("\x1b[38;2;%d;%d;%dm●\x1b[0m ", rgb>>16, rgb>>8&0xff, rgb&0xff))
}

// AgentLine is "NAME: STATUS (ID, ROLE)".
func AgentLine(s agent.Agent) string {
	return output.Visible(fmt.Sprintf("%s: %s (%s, %s)", s.Name, s.Status, s.AgentID, s.Role))
}

// AgentFacts are further columns of an agent for PrintTable.
func AgentFacts(s agent.Agent, now time.Time) [][]string {
	var facts [][]string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{"  " + name, value})
		}
	}
	add("model", s.Model)
	add("state", s.State)
	add("reason", s.Reason)
	add("asks", s.Question)
	add("answers", strings.Join(s.Choices, ", "))
	add("last sign of life", heartbeatText(s))
	add("worker", s.Worker)
	add("pane", s.PaneID)
	add("directory", s.Cwd)
	add("last error", s.LastError)
	if s.SessionRotationCount > 0 {
		add("started again", fmt.Sprintf("%d times", s.SessionRotationCount))
	}
	add("colour", s.Color)
	add("spawned", humane.Age(now.Sub(s.CreatedAt.Time))+" ago")
	if !s.TerminatedAt.IsZero() {
		add("terminated", humane.Age(now.Sub(s.TerminatedAt.Time))+" ago")
	}
	return facts
}

func heartbeatText(s agent.Agent) string {
	text := humane.Age(time.Duration(s.HeartbeatAge*float64(time.Second))) + " ago"
	if !s.HeartbeatHealthy && s.IsActive {
		text += " (late)"
	}
	return text
}

// ServerLine describes the state of a team's server.
func ServerLine(s agent.Server, now time.Time) string {
	at := fmt.Sprintf("%s:%d", s.Hostname, s.Port)
	if !s.IsRunning {
		return fmt.Sprintf("server: not running (was at %s)", at)
	}
	return fmt.Sprintf("server: running at %s (pid %d, %d session(s), uptime %s)",
		at, s.PID, s.ActiveSessions, humane.Age(now.Sub(s.StartedAt.Time)))
}

// SummaryLine is "3 agents: 2 active, 1 idle".
func SummaryLine(s agent.Summary) string {
	spawning := s.Total - s.Active - s.Idle - s.Inactive - s.ShuttingDown - s.Terminated
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{spawning, "spawning"},
		{s.Active, "active"},
		{s.Idle, "idle"},
		{s.Inactive, "inactive"},
		{s.ShuttingDown, "shutting down"},
		{s.Terminated, "terminated"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return CountLine(s.Total, "agent", parts)
}

func CountLine(total int, noun string, parts []string) string {
	switch total {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun + ": " + parts[0]
	default:
		return fmt.Sprintf("%d %ss: %s", total, noun, strings.Join(parts, ", "))
	}
}

// AgentRoles are the roles that an agent can have.
var AgentRoles = []string{string(registry.RoleWorker), string(registry.RoleReviewer), string(registry.RoleLeader)}

// ReassignedText is " (reassigned: task-1, task-2)", after other facts; empty if no task
// was reassigned.
func ReassignedText(tasks []string, facts ...string) string {
	if len(tasks) > 0 {
		facts = append(facts, "reassigned: "+strings.Join(tasks, ", "))
	}
	if len(facts) == 0 {
		return ""
	}
	return " (" + strings.Join(facts, "; ") + ")"
}

func WithReason(text, reason string) string { return strings.TrimSuffix(text+": "+reason, ": ") }

// The statuses and priorities that a task can have.
var (
	TaskStatuses   = []string{string(registry.TaskPending), string(registry.TaskInProgress), string(registry.TaskCompleted)}
	TaskPriorities = []string{string(registry.PriorityHigh), string(registry.PriorityNormal), string(registry.PriorityLow)}
)
