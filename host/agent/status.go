package agent

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/team"
)

// StatusRequest says of whom to tell.
type StatusRequest struct {
	Team string
	// Agent is an id or name; empty: all.
	Agent string
	// Server asks for the team's server, too.
	Server bool
	// Terminated includes agents that have ended. One that is named is told of
	// in any case.
	Terminated bool
}

// StatusAnswer tells how agents are.
type StatusAnswer struct {
	Agents []Agent
	// Server is nil if it was not asked for or there is none.
	Server  *Server
	Summary Summary
	// Warnings name what could not be read.
	Warnings []string
}

// Agent is what is known of an agent at one moment.
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
	// Pane is where its screen is, empty if it has none.
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
}

// Summary counts the agents that were looked at.
type Summary struct {
	Total, Active, Idle, Inactive, ShuttingDown, Terminated int
}

// Status tells how the agents of a team are. Any member may ask. It derives
// everything from facts and changes nothing.
func Status(ctx context.Context, h *host.Host, req StatusRequest) (StatusAnswer, error) {
	return StatusAnswer{}, errNotYet
}
