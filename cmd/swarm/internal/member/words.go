package member

import (
	"strings"
)

// AgentRoles are the roles that an agent can have.
var AgentRoles = []string{"worker", "reviewer", "leader"}

// The phases of a shutdown, as kill-agent and respond-shutdown tell them.
const (
	PhaseRequested   = "requested"
	PhaseApproved    = "approved"
	PhaseRejected    = "rejected"
	PhaseConfirmed   = "confirmed"
	PhaseForceKilled = "force_killed"
)

// ReassignedText is " (reassigned: task-1, task-2)", after other facts; empty if there
// is nothing to tell.
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
	TaskStatuses   = []string{"pending", "in_progress", "completed"}
	TaskPriorities = []string{"high", "normal", "low"}
)
