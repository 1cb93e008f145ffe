package team

import "github.com/swarmhost/swarm/host/registry"

// Aliases of the registry's types, so that users of the rules need not import it.
type (
	// Role is what an agent is in its team.
	Role = registry.Role
	// Status is how an agent is.
	Status = registry.AgentStatus
	// Phase is how far the ending of an agent is.
	Phase = registry.ShutdownPhase
)

// The roles.
const (
	RoleLeader   = registry.RoleLeader
	RoleWorker   = registry.RoleWorker
	RoleReviewer = registry.RoleReviewer
)

// The statuses.
const (
	Spawning     = registry.AgentSpawning
	Active       = registry.AgentActive
	Idle         = registry.AgentIdle
	Inactive     = registry.AgentInactive
	ShuttingDown = registry.AgentShuttingDown
	Terminated   = registry.AgentTerminated
)

// The phases.
const (
	Requested   = registry.ShutdownRequested
	Approved    = registry.ShutdownApproved
	Rejected    = registry.ShutdownRejected
	Confirmed   = registry.ShutdownConfirmed
	ForceKilled = registry.ShutdownForceKilled
)
