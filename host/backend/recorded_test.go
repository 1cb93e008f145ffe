package backend_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// The plugin settings in a worker's record are used, not those of the present config.
func TestRecordedPlugin(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w1", "one")
	reg, err := r.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	moved := &registry.Plugin{Command: []string{"/gone/swarm-plugin-one"}, Config: map[string]any{"region": "x"}}
	if e, err := r.Backends().Entry("one", moved); err != nil || !strings.HasPrefix(e.Path(), r.Root) || e.Config["region"] != "x" {
		t.Errorf("a plugin that was moved: %+v, %v", e, err)
	}
	path := r.Root + "/bin/swarm-plugin-two"
	if e, err := r.Backends().Entry("one", &registry.Plugin{Command: []string{path, "-x"}}); err != nil || !slices.Equal(e.Command, []string{path, "-x"}) {
		t.Errorf("a recorded command: %+v, %v", e, err)
	}
	if err := reg.Edit(t.Context(), r.Worker(t, "w1").ID, func(rec *registry.Record) { rec.Plugin = moved }); err != nil {
		t.Fatal(err)
	}
	r.MustSpawn(t, "w2", "one")
	if diff := cmp.Diff(map[string]worker.Status{"w1": worker.StatusRunning, "w2": worker.StatusRunning}, r.Statuses(t)); diff != "" {
		t.Errorf("workers (-want +got):\n%s", diff)
	}
}
