package agent

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/team"
)

// KillRequest says which agent is to end.
type KillRequest struct {
	// Agent is its id or name.
	Team, Agent string
	// Force ends it at once, whatever it is doing.
	Force bool
	// Reason is told to the agent; empty: none.
	Reason string
	// Progress is told when a process begins to end and when it has; nil: nobody.
	Progress func(host.KillEvent)
}

// Killed says how far the end of an agent is.
type Killed struct {
	// Agent is its id.
	Agent string
	Phase team.Phase
	// Reason is what a [team.Rejected] was explained with.
	Reason     string
	Reassigned []string
	Warnings   []string
}

// Kill asks an agent to end, or with Force ends it. Of two that force at the same
// time one wins, and the other gets a [team.TerminatedError]. An agent whose
// process has gone is [team.Confirmed] at once.
//
// A process that can't be ended is a warning: the agent is terminated all the same.
func Kill(ctx context.Context, h *host.Host, req KillRequest) (Killed, error) {
	return Killed{}, errNotYet
}

// AwaitAnswer waits until the shutdown of an agent is over, by whoever's answer:
// [team.Confirmed], [team.Rejected] or [team.ForceKilled]. A rejection that it
// returns is not told again by the next kill.
func AwaitAnswer(ctx context.Context, h *host.Host, teamName, agent string) (Killed, error) {
	return Killed{}, errNotYet
}
