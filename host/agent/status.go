package agent

import (
	"context"
	"errors"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// StatusRequest is the request of [Status].
type StatusRequest struct {
	Team string
	// Agent is an id or name; empty: all.
	Agent string
	// Server asks for the team's server, too.
	Server bool
	// Terminated includes agents that have ended. A named agent is included in any case.
	Terminated bool
}

// StatusAnswer is the answer of [Status].
type StatusAnswer struct {
	Agents []Agent
	// Server is nil if it was not requested or does not exist.
	Server  *Server
	Summary Summary
	// Warnings name what could not be read.
	Warnings []string
}

// Agent is the state of an agent at one moment.
type Agent struct {
	ID, Name string
	Role     team.Role
	Model    string
	Status   team.Status
	// Active says that it is active or idle.
	Active bool
	Color  string
	// Heartbeat is its last sign of life, Age how long ago that is.
	Heartbeat time.Time
	Age       time.Duration
	Healthy   bool
	// Session is the id of its worker, Worker the worker's name.
	Session, Worker string
	// Pane is the id of its tmux pane, empty if it has none.
	Pane   string
	Dir    string
	Misses int
	// Error is one line, or empty.
	Error string
	// Rotations is how often its process was started again.
	Rotations int
	Created   time.Time
	// Terminated is zero if it has not ended.
	Terminated time.Time
	// State is what its screen shows; nil if that is not known.
	State *host.AgentState
}

// Summary counts the agents of the answer.
type Summary struct {
	Total, Active, Idle, Inactive, ShuttingDown, Terminated int
}

// Status returns the status of the agents of a team. Any member may call it. It derives
// everything from facts and changes nothing.
func Status(ctx context.Context, h *host.Host, req StatusRequest) (StatusAnswer, error) {
	caller, err := h.Caller(ctx)
	if err != nil {
		return StatusAnswer{}, err
	}
	var out StatusAnswer
	var rows []registry.Agent
	var server *registry.Server
	sessions := 0
	err = view(ctx, h, req.Team, func(ctx context.Context, tx *registry.Tx) error {
		if _, err := team.Member(ctx, tx, caller, req.Team); err != nil {
			return err
		}
		t, err := team.Get(ctx, tx, req.Team)
		if err != nil {
			return err
		}
		live, err := tx.Members(ctx, req.Team)
		if err != nil {
			return err
		}
		server, sessions = t.Server, len(live)
		rows, out.Warnings, err = req.agents(ctx, tx)
		return err
	})
	if err != nil {
		return StatusAnswer{}, err
	}
	signs, err := h.Signs(ctx, req.Team)
	if err != nil {
		return StatusAnswer{}, err
	}
	ids := make([]string, len(rows))
	for i, a := range rows {
		ids[i] = a.WorkerID
	}
	states, err := h.AgentStates(ctx, ids)
	if err != nil {
		return StatusAnswer{}, err
	}
	now := time.Now()
	for _, a := range rows {
		sign, state := signs[a.WorkerID], states[a.WorkerID]
		if sign.Gone || a.Status == team.Terminated {
			state = nil
		}
		sign.Shows = state.Shows()
		health := team.Judge(&a, sign, now)
		told := agentOf(&a, health)
		told.State = state
		out.Agents = append(out.Agents, told)
		out.Summary.count(health.Status)
	}
	if req.Server && server != nil {
		out.Server, err = serverStatus(ctx, h, server, sessions)
	}
	return out, err
}

// agents returns the agents that are asked for, as far as they can be read.
func (req *StatusRequest) agents(ctx context.Context, tx *registry.Tx) (rows []registry.Agent, warnings []string, err error) {
	if req.Agent == "" {
		return tx.Agents(ctx, registry.AgentQuery{Team: req.Team, Live: !req.Terminated})
	}
	a, err := team.Find(ctx, tx, req.Team, req.Agent)
	if _, none := errors.AsType[*team.NoAgentError](err); none {
		return nil, nil, &team.NoAgentError{Agent: req.Agent, InTeam: req.Team}
	}
	if err != nil {
		// An agent that can't be read is left out, as in a list.
		warnings = append(warnings, err.Error())
	} else {
		rows = append(rows, a)
	}
	return rows, warnings, nil
}

func agentOf(a *registry.Agent, h team.Health) Agent {
	return Agent{
		ID: a.ID, Name: a.Name, Role: a.Role, Model: a.Model, Status: h.Status, Active: h.Active, Color: a.Color,
		Heartbeat: h.Seen, Age: h.Age, Healthy: h.Healthy,
		Session: a.Session, Worker: a.Worker, Pane: a.Pane, Dir: a.Dir,
		Misses: h.Misses, Error: h.Error, Rotations: a.Rotations,
		Created: a.Created, Terminated: a.Terminated,
	}
}

func (s *Summary) count(status team.Status) {
	s.Total++
	switch status {
	case team.Active:
		s.Active++
	case team.Idle:
		s.Idle++
	case team.Inactive:
		s.Inactive++
	case team.ShuttingDown:
		s.ShuttingDown++
	case team.Terminated:
		s.Terminated++
	case team.Spawning: // it counts in the total only
	}
}

// serverStatus returns the status of a server, or nil if it was never started.
func serverStatus(ctx context.Context, h *host.Host, s *registry.Server, sessions int) (*Server, error) {
	w, running, err := serverRuns(ctx, h, s)
	if err != nil || w.ID == "" {
		return nil, err
	}
	return &Server{
		Worker: w.Name, Host: ServerHost, Port: s.Port, PID: w.PID, Running: running, Sessions: sessions, Started: w.Started,
	}, nil
}

// HeartbeatRequest is the request of [Heartbeat].
type HeartbeatRequest struct {
	// Agent is its id or name; empty: the caller.
	Team, Agent string
	// Status is [team.Active], [team.Idle], or empty: as before.
	Status team.Status
}

// Beat is a heartbeat that was taken.
type Beat struct {
	Time time.Time
	// Deadline is when the next one is due.
	Deadline time.Time
	Status   team.Status
}

// Heartbeat records a sign of life of an agent. An agent sends its own; the leader may send
// one for any agent.
func Heartbeat(ctx context.Context, h *host.Host, req HeartbeatRequest) (Beat, error) {
	caller, _, err := begin(ctx, h, req.Team)
	if err != nil {
		return Beat{}, err
	}
	var b Beat
	err = h.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		a, err := team.Beat(ctx, tx, caller, req.Team, req.Agent, req.Status, now)
		b = Beat{Time: now, Deadline: now.Add(team.BeatEvery), Status: a.Status}
		return err
	})
	if err != nil {
		return Beat{}, err
	}
	return b, nil
}
