package worker

import (
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/team"
)

// The sources of an [AgentState].
const (
	SourceHook    = judgement.SourceHook
	SourceScreen  = judgement.SourceScreen
	SourceProcess = judgement.SourceProcess
)

// AgentState is the state of the agent of a worker with a profile.
type AgentState = judgement.State

// TeamStatus returns what a state means for an agent of a team; empty: nothing. One that stopped
// with a limit or an error is at its prompt, and one whose background work runs on is not
// done.
func TeamStatus(s *AgentState) team.Status {
	if s == nil {
		return ""
	}
	switch s.State {
	case profile.Idle, profile.Limited, profile.Broken:
		return team.Idle
	case profile.Working, profile.Blocked, profile.Background, profile.Compacting:
		return team.Active
	default:
		return ""
	}
}

// Alive reports whether the main process of a worker runs: no state outlives it.
func (w *Worker) Alive() bool { return w.Status == StatusRunning && (w.PID != 0 || w.Reason == "") }
