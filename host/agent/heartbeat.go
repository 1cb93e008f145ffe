package agent

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

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
