package rescue

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestJSONIsInTheSchema compares saved work with docs/rescue.schema.json.
func TestJSONIsInTheSchema(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]swarm.SavedWork{
		"all":     {Name: "fix", Ref: "refs/swarm/rescue/fix/1", Base: "/r", Host: "devbox", Time: time.Unix(1, 0), Title: "WIP", Files: []swarm.FileChange{{Path: "a", Added: 1, Removed: 2}, {Path: "b", Added: -1, Removed: -1}}, Path: "/r-worktrees/fix", Note: "HEAD is detached"},
		"nothing": {Name: "fix", Ref: "refs/swarm/rescue/fix/1", Base: "/r"},
	} {
		jsontest.Fits(t, "rescue", name, workJSONOf(w))
	}
}
