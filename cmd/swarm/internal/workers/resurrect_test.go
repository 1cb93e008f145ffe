package workers

import (
	"encoding/json"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

func TestResurrectJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema := jsontest.ReadSchema(t, "resurrect")
	full := resurrectJSONOf(spawn.Interrupted{
		Worker: worker.Worker{Spec: registry.Spec{ID: "k3x9", Name: "w"}}, Why: "it ran when the machine went down", Refused: "its owner has ended",
	})
	text := "no space"
	full.Error = &text
	for _, r := range []resurrectJSON{full, resurrectJSONOf(spawn.Interrupted{Worker: worker.Worker{Spec: registry.Spec{ID: "k3x9", Name: "w"}}})} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, r)), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("resurrect", schema, v) {
			t.Error(problem)
		}
		delete(v, "refused")
		if got := jsontest.Violations("resurrect", schema, v); len(got) != 1 {
			t.Errorf("one violation, found %q", got)
		}
	}
}
