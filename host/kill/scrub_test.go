package kill_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
)

// Erasing the environments of workers that are gone writes all workers anew, so it is
// done for those alone that had variables of their own.
func TestScrubOnlyEnvironments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		spawn  func(*spawn.Request)
		erased bool
	}{
		{"kept, then cleaned", func(*spawn.Request) {}, false},
		{"ephemeral", hosttest.Ephemeral, false},
		{"with a workspace", hosttest.InWorkspace, false},
		{"with a variable", func(q *spawn.Request) { q.Env = []string{"KEY=value"} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			r.MustSpawn(t, "other", "one")
			r.MustSpawn(t, "w", "one", c.spawn)
			r.MustKill(t, worker.Selection{Names: []string{"w"}}, kill.Request{RemoveWorkspace: true})
			if c.name != "ephemeral" {
				r.MustClean(t, "w")
			}
			r.WantGone(t, "w")
			// The log stays as long as another process has the registry open.
			other, err := registry.Open(t.Context(), r.Dir())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.Close() }()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			// Erased values are erased from the log too, which is emptied.
			log, err := os.Stat(filepath.Join(r.Dir(), registry.File+"-wal"))
			if err != nil {
				t.Fatal(err)
			}
			if emptied := log.Size() == 0; emptied != c.erased {
				t.Errorf("erased: %t, want %t", emptied, c.erased)
			}
		})
	}
}
