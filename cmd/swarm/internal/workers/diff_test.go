package workers

import (
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestDiffJSON compares what a worktree has changed with docs/diff.schema.json.
func TestDiffJSON(t *testing.T) {
	t.Parallel()
	files := []swarm.FileChange{{Path: "a", Added: 1, Removed: 2}, {Path: "image", Added: -1, Removed: -1}}
	for name, d := range map[string]diffJSON{
		"all":     {Worktree: "/r-worktrees/w", Branch: "w", Files: view.FilesJSON(files), Host: "devbox"},
		"nothing": {Files: view.FilesJSON(nil)},
	} {
		jsontest.Fits(t, "diff", name, d)
	}
}
