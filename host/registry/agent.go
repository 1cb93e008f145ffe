package registry

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// AgentStatus is what the registry says of an agent.
type AgentStatus string

const (
	// AgentSpawning: its worker is being started.
	AgentSpawning AgentStatus = "spawning"
	// AgentActive: it works.
	AgentActive AgentStatus = "active"
	// AgentIdle: it said that it has nothing to do.
	AgentIdle AgentStatus = "idle"
	// AgentInactive: it shows no sign of life, or its process ended by itself.
	AgentInactive AgentStatus = "inactive"
	// AgentShuttingDown: it was asked to end and did not refuse.
	AgentShuttingDown AgentStatus = "shutting_down"
	// AgentTerminated: it is a member no more.
	AgentTerminated AgentStatus = "terminated"
)

type Role string

const (
	RoleLeader   Role = "leader"
	RoleWorker   Role = "worker"
	RoleReviewer Role = "reviewer"
)

// Agent is a worker that is a member of a team. Its row outlives its worker.
type Agent struct {
	// Seq is the order of joining, over all teams; 0 for one that is to be added.
	Seq  int64  `json:"-"`
	ID   string `json:"-"`
	Team string `json:"-"`
	// Name is unique among the agents of its team that are not terminated.
	Name  string `json:"-"`
	Role  Role   `json:"role"`
	Model string `json:"model,omitempty"`
	// Color is its own as long as there are more colours than agents.
	Color string `json:"color,omitempty"`
	// Session and Pane say where it is found: ids of its session and of its tmux
	// pane, which may be empty.
	Session string      `json:"session,omitempty"`
	Pane    string      `json:"pane,omitempty"`
	Dir     string      `json:"dir,omitempty"`
	Prompt  string      `json:"prompt,omitempty"`
	Status  AgentStatus `json:"-"`
	// Before is the status that it has again when its shutdown is refused, or has once
	// it is spawned.
	Before AgentStatus `json:"before,omitempty"`
	// WorkerID and Worker are the id and the name of its worker.
	WorkerID string `json:"-"`
	Worker   string `json:"worker,omitempty"`
	// TokenHash is that of its token; empty: it has none.
	TokenHash string    `json:"-"`
	Created   time.Time `json:"-"`
	// Heartbeat is when it last called.
	Heartbeat time.Time `json:"-"`
	// Lost is when its process was found to have ended by itself, zero if it was not.
	Lost time.Time `json:"-"`
	// Terminated is when it was terminated, zero before.
	Terminated time.Time `json:"terminated,omitzero"`
	// ColorUsed is when it got its colour.
	ColorUsed time.Time `json:"color_used,omitzero"`
	LastError string    `json:"last_error,omitempty"`
	// Rotations is how often its session was replaced.
	Rotations int `json:"rotations,omitempty"`
}

const agentColumns = "seq, id, team, name, document, status, worker_id, token_hash, created_ns, heartbeat_ns, lost_ns"

func (a *Agent) fields() []any {
	return []any{
		&a.Seq, &a.ID, &a.Team, &a.Name,
		document{a},
		&a.Status, &a.WorkerID, &a.TokenHash,
		(*stamp)(&a.Created), (*stamp)(&a.Heartbeat), (*stamp)(&a.Lost),
	}
}

// InsertAgent adds an agent and gives it its Seq: [ErrExists] if its id or its
// token is there, or an agent of its name is in its team.
func (t *Tx) InsertAgent(ctx context.Context, a *Agent) (err error) {
	a.Seq, err = t.add(ctx, "agents", agentColumns, a.fields())
	return wrapf(taken(err), "add agent '%s'", a.ID)
}

// PutAgent writes an agent in the place of the one with its id.
func (t *Tx) PutAgent(ctx context.Context, a *Agent) error {
	return wrapf(taken(t.put(ctx, "agents", agentColumns, a.fields(), "id = ?", a.ID)), "write agent '%s'", a.ID)
}

// Beat sets when an agent last called, and nothing else. It never goes back.
func (t *Tx) Beat(ctx context.Context, id string, now time.Time) error {
	return t.exec(ctx, "UPDATE agents SET heartbeat_ns = max(heartbeat_ns, ?) WHERE id = ?", nanos(now), id)
}

// DeleteAgent removes the agent with that id, if there is one, and its shutdowns.
func (t *Tx) DeleteAgent(ctx context.Context, id string) error {
	if err := t.exec(ctx, "DELETE FROM shutdowns WHERE agent_id = ?", id); err != nil {
		return err
	}
	return t.exec(ctx, "DELETE FROM agents WHERE id = ?", id)
}

// The words of the index on agents whose worker was not found to have ended.
var anyStranded = fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM agents WHERE status <> '%s' AND lost_ns = 0 AND worker_id <> ''
	AND NOT EXISTS (SELECT 1 FROM workers WHERE workers.id = agents.worker_id AND workers.state <> '%s'))`, AgentTerminated, Stopped)

// AnyStranded reports whether there is an agent that is not terminated, whose worker
// has ended or is gone, and of which that is not recorded.
func (r *Registry) AnyStranded(ctx context.Context) (any bool, err error) {
	err = r.db.QueryRowContext(ctx, anyStranded).Scan(&any)
	return any, r.explain(ctx, err)
}

// AgentQuery says which agents to read. Empty fields mean all.
type AgentQuery struct {
	Team string
	ID   string
	Name string
	// WorkerID is the id of its worker of now.
	WorkerID  string
	TokenHash string
	// Live leaves out terminated agents.
	Live bool
}

// Agents returns agents in the order in which they joined. One that can't be read
// is left out and named in warnings.
func (t *Tx) Agents(ctx context.Context, q AgentQuery) (agents []Agent, warnings []string, err error) {
	where, args := "TRUE", []any(nil)
	for _, c := range []struct{ column, value string }{
		{"team", q.Team},
		{"id", q.ID},
		{"name", q.Name},
		{"worker_id", q.WorkerID},
		{"token_hash", q.TokenHash},
	} {
		if c.value != "" {
			// The latter is for SQLite, which else can't know that it may use an index on
			// what is not empty.
			where, args = where+" AND "+c.column+" = ? AND "+c.column+" <> ''", append(args, c.value)
		}
	}
	if q.Live {
		where += " AND status <> '" + string(AgentTerminated) + "'"
	}
	agents, warnings, err = readable(ctx, t.tx, scanAgent, "agent", func(a Agent) string { return a.ID },
		"SELECT "+agentColumns+" FROM agents WHERE "+where+" ORDER BY seq", args...)
	return agents, warnings, wrapf(err, "read agents")
}

// Members returns the agents of a team that are not terminated, in the order in
// which they joined, as far as they can be read.
func (t *Tx) Members(ctx context.Context, team string) ([]Agent, error) {
	agents, _, err := t.Agents(ctx, AgentQuery{Team: team, Live: true})
	return agents, err
}

// Agent returns the agent with that id: [ErrNotFound] if there is none.
func (t *Tx) Agent(ctx context.Context, id string) (Agent, error) {
	a, err := scanAgent(t.tx.QueryRowContext(ctx, "SELECT "+agentColumns+" FROM agents WHERE id = ?", id))
	return a, wrapf(orNotFound(err), "agent '%s'", id)
}

func scanAgent(s scanner) (a Agent, err error) {
	a, err = scan[Agent](s)
	if err == nil && !a.valid() {
		err = fmt.Errorf("role %q, status %q", a.Role, a.Status)
	}
	return a, err
}

func (a *Agent) valid() bool {
	statuses := []AgentStatus{AgentSpawning, AgentActive, AgentIdle, AgentInactive, AgentShuttingDown, AgentTerminated}
	return slices.Contains(statuses, a.Status) && slices.Contains([]Role{RoleLeader, RoleWorker, RoleReviewer}, a.Role)
}
