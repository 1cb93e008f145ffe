package agent

import (
	"testing"

	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

func TestKilledAgentLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase team.Phase
		tasks []string
		want  string
	}{
		{team.Requested, nil, "requested shutdown of alice"},
		{team.Approved, nil, "alice approved the shutdown and continues until it is ready"},
		{team.Rejected, nil, "alice rejected the shutdown"},
		{team.Confirmed, nil, "killed alice"},
		{team.Confirmed, []string{"task-1"}, "killed alice (reassigned: task-1)"},
		{team.ForceKilled, nil, "killed alice (force)"},
		{team.ForceKilled, []string{"task-1", "task-2"}, "killed alice (force; reassigned: task-1, task-2)"},
	} {
		if got := killedAgentLine("alice", tool.KillAgentOutput{Killed: agent.Killed{Phase: c.phase, ReassignedTasks: c.tasks}}); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.phase, c.tasks, got, c.want)
		}
	}
}
