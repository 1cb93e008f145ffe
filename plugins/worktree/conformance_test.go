package worktree

import (
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func base(t workspacetest.T) string { return newFixture(t.(*testing.T)).repo }

// pluginPath is the built plugin.
var pluginPath string

// TestConformance is TestConformanceOfBinary in this process, where the race detector sees the
// plugin.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("TestConformanceOfBinary runs the same cases")
	}
	workspacetest.Run(t, workspacetest.Workspace{
		New:  func(workspacetest.T) swarm.Workspace { return newWorkspace() },
		Base: base,
	})
}

func TestConformanceOfBinary(t *testing.T) {
	t.Parallel()
	workspacetest.RunBinary(t, workspacetest.Binary{Path: pluginPath, Base: base})
}
