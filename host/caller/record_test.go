package caller

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestForgedWorkerFile: what a worker writes into its own worker.json gives it no identity.
func TestForgedWorkerFile(t *testing.T) {
	t.Parallel()
	dir := statedir.Dir(t.TempDir())
	reg, err := registry.Open(t.Context(), string(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	registered := store.New(store.Options{Dir: string(dir), Logger: hclog.NewNullLogger()})
	t.Cleanup(func() { _ = registered.Close() })
	f := &Finder{Dir: dir, Store: registered}
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	owner := swarm.Owner(self.Identity)
	for name, tt := range map[string]struct {
		// recorded and forged are what the registry and the file say.
		recorded, forged registry.Spec
		acts             bool
	}{
		"a worker that becomes a shell": {
			registry.Spec{}, registry.Spec{Shell: &registry.Shell{Acts: true}, Owner: &owner}, false,
		},
		"a shell that begins to act": {
			registry.Spec{Shell: &registry.Shell{Session: "s"}, Owner: &owner}, registry.Spec{Shell: &registry.Shell{Acts: true}, Owner: &owner}, false,
		},
		"a shell with another owner": {
			registry.Spec{Shell: &registry.Shell{Acts: true}}, registry.Spec{Shell: &registry.Shell{Acts: true}, Owner: &owner}, false,
		},
		"a shell that hides that it acts": {
			registry.Spec{Shell: &registry.Shell{Acts: true}, Owner: &owner}, registry.Spec{}, true,
		},
		"a loop": {registry.Spec{}, registry.Spec{Ralph: true}, false},
	} {
		id := statedir.NewID(time.Now())
		rec := registry.Record{Spec: tt.recorded, State: registry.Running}
		rec.ID, rec.Name, rec.Backend, rec.Command, rec.Dir = id, "w-"+id, "process", []string{"sh"}, "/"
		if err := reg.Change(t.Context(), func(ctx context.Context, tx *registry.Tx) error { return tx.Insert(ctx, &rec) }); err != nil {
			t.Fatal(err)
		}
		if err := dir.MakeRunDir(id); err != nil {
			t.Fatal(err)
		}
		forged := rec
		forged.Spec = tt.forged
		forged.ID, forged.Name, forged.Backend, forged.Command, forged.Dir = id, rec.Name, rec.Backend, rec.Command, rec.Dir
		if err := dir.WriteWorkerFile(&forged); err != nil {
			t.Fatal(err)
		}
		const pid = 1 << 30
		run, from := f.nearestRun(t.Context(), pid, func(at int) string {
			if at == pid {
				return dir.RunDir(id)
			}
			return ""
		})
		if acts := run == "" && from == owner.PID; acts != tt.acts {
			t.Errorf("%s: %q from %d", name, run, from)
		}
		if f.isLoop(dir.RunDir(id)) {
			t.Errorf("%s is a loop", name)
		}
		// Without the file the registry says the same.
		if err := os.Remove(filepath.Join(dir.RunDir(id), "worker.json")); err != nil {
			t.Fatal(err)
		}
		if _, from := f.nearestRun(t.Context(), pid, func(at int) string {
			if at == pid {
				return dir.RunDir(id)
			}
			return ""
		}); (from == owner.PID) != tt.acts {
			t.Errorf("%s, without the file: from %d", name, from)
		}
	}
}
