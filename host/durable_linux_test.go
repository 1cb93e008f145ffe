package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/machinetest"
)

// TestSpawnIsDurable spawns a worker while another process has the registry open, as a watch
// has: nothing that the spawn wrote may be in memory only.
func TestSpawnIsDurable(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "first", "one")
	other, err := registry.Open(t.Context(), r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	r.MustSpawn(t, "second", "one")
	wantLogOnDisk(t, r)
}

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
		wantLogOnDisk(t, r)
		return nil
	}
	r.MustKill(t, worker.Selection{Names: []string{"tree"}}, kill.Request{RemoveWorkspace: true})
}

// wantLogOnDisk fails the test if a part of the database's log is in memory only.
func wantLogOnDisk(t *testing.T, r *hosttest.Rig) {
	t.Helper()
	log, err := os.Open(filepath.Join(r.Dir(), registry.File+"-wal"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	var cached unix.Cachestat_t
	err = unix.Cachestat(uint(log.Fd()), &unix.CachestatRange{}, &cached, 0)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrPermission) { // an older kernel, or a container that forbids it
		lacks := fmt.Errorf("it asks the kernel which pages of a file are not on the disk: cachestat: %w", err)
		if err := machinetest.Skipped(t.Name(), lacks); err != nil {
			t.Fatal(err)
		}
		t.Skip(lacks)
	}
	if err != nil {
		t.Fatal(err)
	}
	if cached.Dirty+cached.Writeback > 0 {
		t.Errorf("%d of %d pages of the log are not on the disk", cached.Dirty+cached.Writeback, cached.Cache)
	}
}
