package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/host/tool"
)

type agentStatusOptions struct {
	memberFlags
	in tool.GetAgentStatusInput
}

func newAgentStatus(a *app) *cobra.Command {
	o := &agentStatusOptions{}
	cmd := &cobra.Command{
		Use:   "status [AGENT]",
		Short: "Show the status of one agent or of all",
		Long: `Show the status of one agent, by id or name, or of every agent of a team: what it is
doing, and when it gave its last sign of life, which is a heartbeat, a call of its own
or output. The status is checked now; nothing is changed. Any member may ask.

An agent that is silent for two minutes is inactive, unless it has reported that it is
idle; it keeps its tasks as long as its process lives.`,
		Example: `  swarm agent status --team web
  swarm agent status alice --team web --json | jq '.agents[0].heartbeatHealthy'
  swarm agent status --team web --server --terminated`,
		Args:              arguments(0, 1, ""),
		ValidArgsFunction: a.completeAgent(&o.memberFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.in.AgentID = args[0]; args[0] == "" {
					return usagef("the agent is empty") // all of them were not meant
				}
			}
			return a.asMember(cmd.Context(), &o.memberFlags, func(env tool.Env, team string) error {
				o.in.TeamName = team
				return a.agentStatus(cmd.Context(), env, o)
			})
		},
	}
	o.addTo(cmd, a)
	cmd.Flags().BoolVar(&o.in.IncludeServer, "server", false, "show the team's server too")
	cmd.Flags().BoolVar(&o.in.IncludeTerminated, "terminated", false, "show terminated agents too")
	return cmd
}

func (a *app) agentStatus(ctx context.Context, env tool.Env, o *agentStatusOptions) error {
	out, err := tool.GetAgentStatus(ctx, env, o.in)
	return a.answer(o.json, out, out.Warnings, err, func() {
		now := time.Now()
		for i, agent := range out.Agents {
			if i > 0 {
				a.printf("\n")
			}
			a.printf("%s%s\n", a.dot(agent.Color), agentLine(agent))
			a.printTable(nil, agentFacts(agent, now))
		}
		if out.Server != nil {
			a.printf("\n%s\n", serverLine(*out.Server, now))
		}
		if o.in.AgentID == "" {
			if len(out.Agents) > 0 || out.Server != nil {
				a.printf("\n")
			}
			a.printf("%s\n", summaryLine(out.Summary))
		}
	})
}

// agentLine is "NAME: STATUS (ID, ROLE)".
func agentLine(s tool.AgentStatus) string {
	return visible(fmt.Sprintf("%s: %s (%s, %s)", s.Name, s.Status, s.AgentID, s.Role))
}

// agentFacts are what is known of an agent beside that, for printTable.
func agentFacts(s tool.AgentStatus, now time.Time) [][]string {
	var facts [][]string
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, []string{"  " + name, value})
		}
	}
	add("model", s.Model)
	add("state", s.State)
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
	add("spawned", formatAge(now.Sub(s.CreatedAt.Time))+" ago")
	if !s.TerminatedAt.IsZero() {
		add("terminated", formatAge(now.Sub(s.TerminatedAt.Time))+" ago")
	}
	return facts
}

// heartbeatText is how long ago an agent was heard of.
func heartbeatText(s tool.AgentStatus) string {
	text := formatAge(time.Duration(s.HeartbeatAge*float64(time.Second))) + " ago"
	if !s.HeartbeatHealthy && s.IsActive {
		text += " (late)"
	}
	return text
}

// serverLine tells how the server of a team is.
func serverLine(s tool.TeamServer, now time.Time) string {
	at := fmt.Sprintf("%s:%d", s.Hostname, s.Port)
	if !s.IsRunning {
		return fmt.Sprintf("server: not running (was at %s)", at)
	}
	return fmt.Sprintf("server: running at %s (pid %d, %d session(s), uptime %s)",
		at, s.PID, s.ActiveSessions, formatAge(now.Sub(s.StartedAt.Time)))
}

// summaryLine is "3 agents: 2 active, 1 idle".
func summaryLine(s tool.AgentSummary) string {
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
	return countLine(s.Total, "agent", parts)
}

func countLine(total int, noun string, parts []string) string {
	switch total {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun + ": " + parts[0]
	default:
		return fmt.Sprintf("%d %ss: %s", total, noun, strings.Join(parts, ", "))
	}
}
