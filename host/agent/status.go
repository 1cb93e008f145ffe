package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
)

type StatusRequest struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team to query" schema:"min=1"`
	// AgentID is an id or name; empty: all.
	AgentID       string `json:"agentId,omitempty" jsonschema:"Specific agent ID to query. If omitted, returns all agents in team."`
	IncludeServer bool   `json:"includeServer,omitempty" jsonschema:"Include OpenCode server status in response" schema:"default=false"`
	// IncludeTerminated includes agents that have ended. A named agent is always included.
	IncludeTerminated bool `json:"includeTerminated,omitempty" jsonschema:"Include terminated agents in results" schema:"default=false"`
}

// StatusAnswer is the answer of [Status], as the tool get-agent-status returns it.
type StatusAnswer struct {
	Agents   []Agent  `json:"agents" jsonschema:"The agents, oldest first"`
	Server   *Server  `json:"server,omitempty" jsonschema:"The server that the agents share, if requested and if the team has one"`
	Summary  Summary  `json:"summary" jsonschema:"Number of agents by status"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"Omitted agents, and why"`
}

// Agent is the status of an agent at one moment.
type Agent struct {
	AgentID  string               `json:"agentId" jsonschema:"ID of the agent"`
	Name     string               `json:"name" jsonschema:"Its name"`
	Role     registry.Role        `json:"role" jsonschema:"Role in the team" schema:"enum=leader|worker|reviewer"`
	Model    string               `json:"model" jsonschema:"Model that it uses"`
	Status   registry.AgentStatus `json:"status" jsonschema:"State of its life cycle" schema:"enum=spawning|active|idle|inactive|shutting_down|terminated"`
	IsActive bool                 `json:"isActive" jsonschema:"It is active or idle"`
	Color    string               `json:"color" jsonschema:"Its colour, as #RRGGBB"`

	HeartbeatTS      humane.Timestamp `json:"heartbeatTs" jsonschema:"Its last sign of life"`
	HeartbeatAge     float64          `json:"heartbeatAge" jsonschema:"Seconds since last heartbeat"`
	HeartbeatHealthy bool             `json:"heartbeatHealthy" jsonschema:"True if its last sign of life is less than 60 seconds old"`

	State    string   `json:"state,omitempty" jsonschema:"State that its screen shows or its hooks report: working, idle, blocked, background, compacting, limited, broken, unknown"`
	Question string   `json:"question,omitempty" jsonschema:"Question of a blocked agent; a person or the leader has to answer"`
	Choices  []string `json:"choices,omitempty" jsonschema:"The answers that it offers"`
	Reason   string   `json:"reason,omitempty" jsonschema:"The usage limit or the error at which it stopped, or its background work"`

	// SessionID is the id of its worker, Worker the worker's name.
	SessionID string `json:"sessionId" jsonschema:"ID of the worker that it runs in"`
	Worker    string `json:"-"`
	// PaneID is empty if it has no tmux pane.
	PaneID string `json:"paneId,omitempty" jsonschema:"tmux pane that it runs in"`
	Cwd    string `json:"cwd" jsonschema:"Its working directory"`

	ConsecutiveMisses int `json:"consecutiveMisses" jsonschema:"Whole minutes without a sign of life" schema:"number"`
	// LastError is one line, or empty.
	LastError            string `json:"lastError,omitempty" jsonschema:"What went wrong last"`
	SessionRotationCount int    `json:"sessionRotationCount" jsonschema:"How often it was started again" schema:"number"`

	CreatedAt humane.Timestamp `json:"createdAt" jsonschema:"When it was spawned"`
	// TerminatedAt is zero if it has not ended.
	TerminatedAt humane.Timestamp `json:"terminatedAt,omitzero" jsonschema:"When it was terminated"`
}

// Summary counts the agents of the answer by their status.
type Summary struct {
	Total        int `json:"total" jsonschema:"All agents (excluding terminated unless includeTerminated)" schema:"number"`
	Active       int `json:"active" jsonschema:"Status active" schema:"number"`
	Idle         int `json:"idle" jsonschema:"Status idle" schema:"number"`
	Inactive     int `json:"inactive" jsonschema:"Status inactive" schema:"number"`
	ShuttingDown int `json:"shuttingDown" jsonschema:"Status shutting_down" schema:"number"`
	Terminated   int `json:"terminated" jsonschema:"Status terminated (only if includeTerminated)" schema:"number"`
}

// Status returns the status of the agents of a team. Any member may call it. It derives
// everything from facts and changes nothing.
func Status(ctx context.Context, h *host.Host, req StatusRequest) (StatusAnswer, error) {
	var out StatusAnswer
	var server *registry.Server
	sessions := 0
	rows, err := Look(ctx, h, req.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller) (rows []registry.Agent, err error) {
		if _, err := team.Member(ctx, tx, caller, req.TeamName); err != nil {
			return nil, err
		}
		t, err := team.Get(ctx, tx, req.TeamName)
		if err != nil {
			return nil, err
		}
		live, err := tx.Members(ctx, req.TeamName)
		if err != nil {
			return nil, err
		}
		server, sessions = t.Server, len(live)
		rows, out.Warnings, err = req.agents(ctx, tx)
		for i, a := range rows {
			// One in a workspace works there, and not where it was spawned from.
			if rec, err := tx.Get(ctx, a.WorkerID); err == nil && rec.Workspace != nil && rec.Dir != "" {
				rows[i].Dir = rec.Dir
			}
		}
		return rows, err
	})
	if err != nil {
		return StatusAnswer{}, err
	}
	signs, err := h.Liveness().Signs(ctx, req.TeamName)
	if err != nil {
		return StatusAnswer{}, err
	}
	ids := make([]string, len(rows))
	for i, a := range rows {
		ids[i] = a.WorkerID
	}
	states, err := h.Display().StatesOf(ctx, ids)
	if err != nil {
		return StatusAnswer{}, err
	}
	now := time.Now()
	for _, a := range rows {
		sign, state := signs[a.WorkerID], states[a.WorkerID]
		if sign.Gone || a.Status == registry.AgentTerminated {
			state = nil
		}
		sign.Shows = worker.TeamStatus(state)
		health := team.Judge(&a, sign, now)
		out.Agents = append(out.Agents, agentOf(&a, health, state))
		out.Summary.count(health.Status)
	}
	if req.IncludeServer && server != nil {
		w, running, err := serverRuns(ctx, h, server)
		if err != nil {
			return out, err
		}
		if w.ID != "" { // it was started once
			out.Server = serverOn(w, server.Port, running, sessions)
		}
	}
	return out, nil
}

// agents returns the agents that are asked for, as far as they can be read.
func (req *StatusRequest) agents(ctx context.Context, tx *registry.Tx) (rows []registry.Agent, warnings []string, err error) {
	if req.AgentID == "" {
		return tx.Agents(ctx, registry.AgentQuery{Team: req.TeamName, Live: !req.IncludeTerminated})
	}
	a, err := team.Find(ctx, tx, req.TeamName, req.AgentID)
	if _, none := errors.AsType[*team.NoAgentError](err); none {
		return nil, nil, &team.NoAgentError{Agent: req.AgentID, InTeam: req.TeamName}
	}
	if err != nil {
		// An agent that can't be read is left out, as in a list.
		warnings = append(warnings, err.Error())
	} else {
		rows = append(rows, a)
	}
	return rows, warnings, nil
}

func agentOf(a *registry.Agent, h team.Health, state *judgement.State) Agent {
	out := Agent{
		AgentID: a.ID, Name: a.Name, Role: a.Role, Model: a.Model, Status: h.Status, IsActive: h.Active, Color: a.Color,
		HeartbeatTS: humane.At(h.Seen), HeartbeatAge: h.Age.Seconds(), HeartbeatHealthy: h.Healthy,
		SessionID: a.Session, Worker: a.Worker, PaneID: a.Pane, Cwd: a.Dir,
		ConsecutiveMisses: h.Misses, LastError: h.Error, SessionRotationCount: a.Rotations,
		CreatedAt: humane.At(a.Created), TerminatedAt: humane.At(a.Terminated),
	}
	if state != nil {
		out.State, out.Question, out.Choices = string(state.State), state.Question, profile.ChoiceLines(state.Choices)
		out.Reason = state.Reason
	}
	return out
}

// Dialog is the whole of what a blocked agent asks.
type Dialog struct {
	Digest string   `json:"digest" jsonschema:"Goes with the answer: 'swarm answer --digest'"`
	Lines  []string `json:"lines" jsonschema:"Its lines"`
	Cut    bool     `json:"cut,omitempty" jsonschema:"It begins above the screen"`
}

// DialogOf returns nil if no dialog is known.
func DialogOf(d profile.Dialog) *Dialog {
	if d.Digest == "" {
		return nil
	}
	return &Dialog{Digest: d.Digest, Lines: d.Lines, Cut: d.Cut}
}

func (s *Summary) count(status registry.AgentStatus) {
	s.Total++
	switch status {
	case registry.AgentActive:
		s.Active++
	case registry.AgentIdle:
		s.Idle++
	case registry.AgentInactive:
		s.Inactive++
	case registry.AgentShuttingDown:
		s.ShuttingDown++
	case registry.AgentTerminated:
		s.Terminated++
	case registry.AgentSpawning: // it counts in the total only
	}
}

type HeartbeatRequest struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	// AgentID is its id or name; empty: the caller.
	AgentID string               `json:"agentId,omitempty" jsonschema:"You if omitted"`
	Status  registry.AgentStatus `json:"status,omitempty" jsonschema:"Unchanged if omitted" schema:"enum=active|idle"`
}

// Beat is a recorded heartbeat, as the tool heartbeat returns it.
type Beat struct {
	HeartbeatTS  humane.Timestamp     `json:"heartbeatTs,omitzero" jsonschema:"When it was recorded; absent if it was not"`
	NextDeadline humane.Timestamp     `json:"nextDeadline,omitzero" jsonschema:"Until when the next sign of life is expected"`
	AgentStatus  registry.AgentStatus `json:"agentStatus,omitempty" jsonschema:"Status of the agent" schema:"enum=spawning|active|idle|inactive|shutting_down|terminated"`
}

// Heartbeat records a sign of life of an agent. An agent sends its own; the leader may send
// one for any agent.
func Heartbeat(ctx context.Context, h *host.Host, req HeartbeatRequest) (Beat, error) {
	caller, _, err := begin(ctx, h, req.TeamName)
	if err != nil {
		return Beat{}, err
	}
	var b Beat
	err = h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		a, err := team.Beat(ctx, tx, caller, req.TeamName, req.AgentID, req.Status, now)
		b = Beat{
			HeartbeatTS: humane.At(now), NextDeadline: humane.At(now.Add(team.BeatEvery)),
			AgentStatus: a.Status,
		}
		return err
	})
	if err != nil {
		return Beat{}, err
	}
	return b, nil
}
