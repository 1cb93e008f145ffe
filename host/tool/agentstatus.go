package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// GetAgentStatusInput is the input of [GetAgentStatus].
type GetAgentStatusInput struct {
	TeamName          string `json:"teamName" jsonschema:"Name of the team to query" schema:"min=1"`
	AgentID           string `json:"agentId,omitempty" jsonschema:"Specific agent ID to query. If omitted, returns all agents in team."`
	IncludeServer     bool   `json:"includeServer,omitempty" jsonschema:"Include OpenCode server status in response" schema:"default=false"`
	IncludeTerminated bool   `json:"includeTerminated,omitempty" jsonschema:"Include terminated agents in results" schema:"default=false"`
}

// GetAgentStatusOutput is the output of [GetAgentStatus].
type GetAgentStatusOutput struct {
	outcome
	Agents   []AgentStatus `json:"agents" jsonschema:"The agents, the oldest first"`
	Server   *TeamServer   `json:"server,omitempty" jsonschema:"The server that the agents share, if asked for and there is one"`
	Summary  AgentSummary  `json:"summary" jsonschema:"How many agents have which status"`
	Warnings []string      `json:"warnings,omitempty" jsonschema:"Agents that are left out, and why"`
	Error    string        `json:"error,omitempty" jsonschema:"Why there is no answer"`
}

// AgentStatus is the status of one agent.
type AgentStatus struct {
	AgentID  string `json:"agentId" jsonschema:"ID of the agent"`
	Name     string `json:"name" jsonschema:"Its name"`
	Role     string `json:"role" jsonschema:"Role in the team" schema:"enum=leader|worker|reviewer"`
	Model    string `json:"model" jsonschema:"Model that it uses"`
	Status   string `json:"status" jsonschema:"Where it is in its life" schema:"enum=spawning|active|idle|inactive|shutting_down|terminated"`
	IsActive bool   `json:"isActive" jsonschema:"It is active or idle"`
	Color    string `json:"color" jsonschema:"Its colour, as #RRGGBB"`

	HeartbeatTS      Timestamp `json:"heartbeatTs" jsonschema:"Its last sign of life"`
	HeartbeatAge     float64   `json:"heartbeatAge" jsonschema:"Seconds since last heartbeat"`
	HeartbeatHealthy bool      `json:"heartbeatHealthy" jsonschema:"True if its last sign of life is less than 60 seconds old"`

	State    string   `json:"state,omitempty" jsonschema:"State that its screen shows: working, idle, blocked, unknown"`
	Question string   `json:"question,omitempty" jsonschema:"Question of a blocked agent; a person or the leader has to answer"`
	Choices  []string `json:"choices,omitempty" jsonschema:"The answers that it offers"`

	SessionID string `json:"sessionId" jsonschema:"ID of the worker that it runs in"`
	// Worker is that worker's name, for people.
	Worker string `json:"-"`
	PaneID string `json:"paneId,omitempty" jsonschema:"tmux pane that it runs in"`
	Cwd    string `json:"cwd" jsonschema:"Its working directory"`

	ConsecutiveMisses    int    `json:"consecutiveMisses" jsonschema:"Whole minutes without a sign of life" schema:"number"`
	LastError            string `json:"lastError,omitempty" jsonschema:"What went wrong last"`
	SessionRotationCount int    `json:"sessionRotationCount" jsonschema:"How often it was started again" schema:"number"`

	CreatedAt    Timestamp `json:"createdAt" jsonschema:"When it was spawned"`
	TerminatedAt Timestamp `json:"terminatedAt,omitzero" jsonschema:"When it was terminated"`
}

// TeamServer is the command that the agents of a team share.
type TeamServer struct {
	Port           int       `json:"port" jsonschema:"TCP port that it listens on" schema:"number"`
	PID            int       `json:"pid" jsonschema:"Its main process" schema:"number"`
	IsRunning      bool      `json:"isRunning" jsonschema:"Its process is alive and the port answers"`
	ActiveSessions int       `json:"activeSessions" jsonschema:"How many agents use it" schema:"number"`
	Hostname       string    `json:"hostname" jsonschema:"Address that it listens on"`
	StartedAt      Timestamp `json:"startedAt" jsonschema:"When it was started"`
}

// AgentSummary counts agents by status.
type AgentSummary struct {
	Total        int `json:"total" jsonschema:"All agents (excluding terminated unless includeTerminated)" schema:"number"`
	Active       int `json:"active" jsonschema:"Status active" schema:"number"`
	Idle         int `json:"idle" jsonschema:"Status idle" schema:"number"`
	Inactive     int `json:"inactive" jsonschema:"Status inactive" schema:"number"`
	ShuttingDown int `json:"shuttingDown" jsonschema:"Status shutting_down" schema:"number"`
	Terminated   int `json:"terminated" jsonschema:"Status terminated (only if includeTerminated)" schema:"number"`
}

// GetAgentStatus returns the status of the agents of a team.
var GetAgentStatus = &definition[GetAgentStatusInput, GetAgentStatusOutput]{
	tool: Tool{
		Name:   "get-agent-status",
		Title:  "How agents are",
		Set:    Teams,
		Member: true,
		Description: `Queries the status of one or all agents in a team. Returns comprehensive metadata including
lifecycle state, heartbeat health, session info, and server status. Any team member can call
this tool.`,
		ReadOnly:   true,
		Idempotent: true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in GetAgentStatusInput) (GetAgentStatusOutput, error) {
		answer, err := agent.Status(ctx, h, agent.StatusRequest{
			Team: in.TeamName, Agent: in.AgentID, Server: in.IncludeServer, Terminated: in.IncludeTerminated,
		})
		if err != nil {
			return GetAgentStatusOutput{}, err
		}
		return GetAgentStatusOutput{
			outcome:  outcome{true},
			Agents:   agentStatuses(answer.Agents),
			Server:   teamServer(answer.Server),
			Summary:  AgentSummary(answer.Summary),
			Warnings: answer.Warnings,
		}, nil
	},
	failed: func(_ GetAgentStatusInput, text string) GetAgentStatusOutput {
		return GetAgentStatusOutput{Agents: []AgentStatus{}, Error: text}
	},
}

func agentStatuses(agents []agent.Agent) []AgentStatus {
	list := make([]AgentStatus, len(agents))
	for i, a := range agents {
		list[i] = AgentStatus{
			AgentID: a.ID, Name: a.Name, Role: string(a.Role), Model: a.Model,
			Status: string(a.Status), IsActive: a.Active, Color: a.Color,
			HeartbeatTS: Timestamp{a.Heartbeat}, HeartbeatAge: a.Age.Seconds(), HeartbeatHealthy: a.Healthy,
			SessionID: a.Session, Worker: a.Worker, PaneID: a.Pane, Cwd: a.Dir,
			ConsecutiveMisses: a.Misses, LastError: a.Error, SessionRotationCount: a.Rotations,
			CreatedAt: Timestamp{a.Created}, TerminatedAt: Timestamp{a.Terminated},
		}
		if s := a.State; s != nil {
			list[i].State, list[i].Question = string(s.State), s.Question
			list[i].Choices = choices(s.Choices)
		}
	}
	return list
}

func teamServer(s *agent.Server) *TeamServer {
	if s == nil {
		return nil
	}
	return &TeamServer{
		Port: s.Port, PID: s.PID, IsRunning: s.Running, ActiveSessions: s.Sessions,
		Hostname: s.Host, StartedAt: Timestamp{s.Started},
	}
}
