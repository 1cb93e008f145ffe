package agent

import (
	"context"
	"time"

	"github.com/swarmhost/swarm/host"
)

// Team is what is known of a team at one moment.
type Team struct {
	Name, Description string
	Created           time.Time
	// Leader is the name of the worker whose inhabitants lead it; empty: a person.
	Leader string
	// Agents are the names of the agents that have not ended, in the order in which
	// they came.
	Agents []string
	// Server says that its agents share a server.
	Server bool
}

// Teams returns all teams in the order of their names. What can't be read is left
// out and named in warnings. It changes nothing.
func Teams(ctx context.Context, h *host.Host) (teams []Team, warnings []string, err error) {
	return nil, nil, errNotYet
}
