package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/registry"
)

// Erasing the environments of workers that are gone writes all workers anew, so it is
// done for those alone that had variables of their own.
func TestScrubOnlyEnvironments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spawn  func(*SpawnRequest)
		erased bool
	}{
		{"kept, then cleaned", func(*SpawnRequest) {}, false},
		{"ephemeral", ephemeral, false},
		{"with a workspace", withTree, false},
		{"with a variable", func(q *SpawnRequest) { q.Env = []string{"KEY=value"} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.spawn(t, "other", "one")
			r.spawn(t, "w", "one", c.spawn)
			r.kill(t, Selection{Names: []string{"w"}}, KillRequest{RemoveWorkspace: true})
			if c.name != "ephemeral" {
				r.clean(t, "w")
			}
			r.gone(t, "w")
			reg, err := r.store.Writing(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := reg.Scrub(t.Context()); err != nil {
				t.Fatal(err)
			}
			// Erased values are erased from the log too, which is emptied.
			log, err := os.Stat(filepath.Join(r.opts.Dir, registry.File+"-wal"))
			if err != nil {
				t.Fatal(err)
			}
			if emptied := log.Size() == 0; emptied != c.erased {
				t.Errorf("erased: %t, want %t", emptied, c.erased)
			}
		})
	}
}
