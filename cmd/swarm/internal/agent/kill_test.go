package agent

import (
	"testing"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

func TestKilledAgentLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase registry.ShutdownPhase
		tasks []string
		want  string
	}{
		{registry.ShutdownRequested, nil, "requested shutdown of alice"},
		{registry.ShutdownApproved, nil, "alice approved the shutdown and continues until it is ready"},
		{registry.ShutdownRejected, nil, "alice rejected the shutdown"},
		{registry.ShutdownConfirmed, nil, "killed alice"},
		{registry.ShutdownConfirmed, []string{"task-1"}, "killed alice (reassigned: task-1)"},
		{registry.ShutdownForceKilled, nil, "killed alice (force)"},
		{registry.ShutdownForceKilled, []string{"task-1", "task-2"}, "killed alice (force; reassigned: task-1, task-2)"},
	} {
		if got := killedAgentLine("alice", tool.KillAgentOutput{Killed: agent.Killed{Phase: c.phase, ReassignedTasks: c.tasks}}); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.phase, c.tasks, got, c.want)
		}
	}
}
