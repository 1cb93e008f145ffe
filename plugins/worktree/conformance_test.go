package worktree

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func base(t workspacetest.T) string { return newFixture(t.(*testing.T)).repo }

func TestConformance(t *testing.T) {
	t.Parallel()
	workspacetest.Run(t, workspacetest.Workspace{
		New:  func(workspacetest.T) swarm.Workspace { return newWorkspace() },
		Base: base,
	})
}

func TestConformanceOfBinary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swarm-plugin-worktree")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/swarmhost/swarm/cmd/swarm-plugin-worktree")
	build.Env = environment
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	workspacetest.RunBinary(t, workspacetest.Binary{Path: path, Base: base})
}
