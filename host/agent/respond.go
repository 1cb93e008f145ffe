package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/team"
)

// RespondRequest is an agent's answer to the request that it ends.
type RespondRequest struct {
	Team    string
	Approve bool
	// Ready says that it may end now, else it says so later. It means nothing
	// without Approve.
	Ready bool
	// Reason is told to the leader; empty: none.
	Reason string
}

// Responded says what came of an answer.
type Responded struct {
	Phase      team.Phase
	Reassigned []string
	Warnings   []string
	// AfterAnswer does what must not delay the answer; nil: there is nothing more
	// to do. The worker of the agent is given at least a second to hear the answer.
	AfterAnswer func(context.Context) error
}

// Respond answers for the agent that calls. Nobody else can.
func Respond(ctx context.Context, h *host.Host, req RespondRequest) (Responded, error) {
	return Responded{}, errNotYet
}
