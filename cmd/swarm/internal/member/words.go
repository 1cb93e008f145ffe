package member

import (
	"strings"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// AgentRoles are the roles that an agent can have.
var AgentRoles = []string{string(team.RoleWorker), string(team.RoleReviewer), string(team.RoleLeader)}

// The phases of a shutdown in the answers of kill-agent and respond-shutdown.
const (
	PhaseRequested   = string(team.Requested)
	PhaseApproved    = string(team.Approved)
	PhaseRejected    = string(team.Rejected)
	PhaseConfirmed   = string(team.Confirmed)
	PhaseForceKilled = string(team.ForceKilled)
)

// ReassignedText is " (reassigned: task-1, task-2)", after other facts; empty if no task
// was reassigned.
func ReassignedText(tasks []string, facts ...string) string {
	if len(tasks) > 0 {
		facts = append(facts, "reassigned: "+strings.Join(tasks, ", "))
	}
	if len(facts) == 0 {
		return ""
	}
	return " (" + strings.Join(facts, "; ") + ")"
}

func WithReason(text, reason string) string { return strings.TrimSuffix(text+": "+reason, ": ") }

// The statuses and priorities that a task can have.
var (
	TaskStatuses   = []string{string(registry.TaskPending), string(registry.TaskInProgress), string(registry.TaskCompleted)}
	TaskPriorities = []string{string(registry.PriorityHigh), string(registry.PriorityNormal), string(registry.PriorityLow)}
)
