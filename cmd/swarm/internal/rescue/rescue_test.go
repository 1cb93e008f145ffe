package rescue

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestJSONIsInTheSchema compares saved work with docs/rescue.schema.json.
func TestJSONIsInTheSchema(t *testing.T) {
	t.Parallel()
	schema := jsontest.ReadSchema(t, "rescue")
	for name, w := range map[string]swarm.SavedWork{
		"all":     {Name: "fix", Ref: "refs/swarm/rescue/fix/1", Base: "/r", Host: "devbox", Time: time.Unix(1, 0), Title: "WIP", Files: []swarm.FileChange{{Path: "a", Added: 1, Removed: 2}, {Path: "b", Added: -1, Removed: -1}}, Path: "/r-worktrees/fix", Note: "HEAD is detached"},
		"nothing": {Name: "fix", Ref: "refs/swarm/rescue/fix/1", Base: "/r"},
	} {
		text, err := json.Marshal(workJSONOf(w))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		for _, violation := range jsontest.Violations(name, schema, v) {
			t.Error(violation)
		}
	}
}
