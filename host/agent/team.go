package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
)

// CreateRequest says what team to make.
type CreateRequest struct {
	Name, Description string
	// Server is the command of a server that its agents share; empty: none.
	// {port} in it is replaced by a free port of [ServerHost].
	Server []string
	// Dir is the server's working directory, absolute.
	Dir string
}

// Created is a new team.
type Created struct {
	// Leader is the id of its leader.
	Leader string
	// Server is nil if it has none.
	Server   *Server
	Warnings []string
}

// CreateTeam makes a team. Its leader is whoever calls: the inhabitants of the
// worker that the caller runs in, or a person. A server that does not listen in
// time is an error, and nothing is left of the team then.
func CreateTeam(ctx context.Context, h *host.Host, req CreateRequest) (Created, error) {
	return Created{}, errNotYet
}

// Deleted says what went with a team.
type Deleted struct {
	// Killed are the ids of the agents that were alive.
	Killed   []string
	Warnings []string
	// AfterAnswer ends the worker that the caller itself runs in, if that is one of
	// the team's; nil: there is nothing more to do.
	AfterAnswer func(context.Context) error
}

// DeleteTeam removes a team with its tasks and messages. One with live agents is
// a [team.LiveAgentsError], unless force is set, which kills them. Its server is ended.
func DeleteTeam(ctx context.Context, h *host.Host, name string, force bool) (Deleted, error) {
	return Deleted{}, errNotYet
}
