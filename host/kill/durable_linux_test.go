package kill_test

import (
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// TestRemovalIsDurable removes a workspace while another process has the registry open. When the
// directory goes, the disk has that it is being removed, and how its worker ended.
func TestRemovalIsDurable(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "tree", "one", hosttest.InWorkspace)
	other, err := registry.Open(t.Context(), r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	r.Tree.AfterRemove = func() error {
		if rec := r.Record(t, "tree"); !rec.Removing || rec.State != registry.Stopped {
			t.Errorf("the record is %+v", rec)
		}
		r.WantLogOnDisk(t)
		return nil
	}
	r.MustKill(t, worker.Selection{Names: []string{"tree"}}, kill.Request{RemoveWorkspace: true})
}
