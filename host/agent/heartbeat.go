package agent

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/team"
)

// HeartbeatRequest says that an agent lives.
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

// Heartbeat takes note that an agent lives. An agent speaks for itself; the leader
// may do so for any.
func Heartbeat(ctx context.Context, h *host.Host, req HeartbeatRequest) (Beat, error) {
	return Beat{}, errNotYet
}
