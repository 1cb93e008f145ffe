package host_test

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// A lock is held by one at a time although its file goes each time, and no file stays.
func TestLockFilesGo(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	var holders, held atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		other := hosttest.NewIn(t, r.Root)
		all.Go(func() {
			for range 100 {
				var unlock func()
				var err error
				if i%2 == 0 {
					unlock, err = other.StateDir().Lock(t.Context(), "w")
				} else {
					unlock, err = other.StateDir().TryLock("w")
				}
				if err != nil {
					t.Error(err)
				}
				if unlock == nil {
					continue
				}
				held.Add(1)
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				if !other.StateDir().Locked("w") {
					t.Error("it does not look held")
				}
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if held.Load() < 400 {
		t.Errorf("held %d times", held.Load())
	}
	noLocks(t, r)
}

// Whatever becomes of workers, no lock's file outlives the call that took it.
func TestCallsLeaveNoLocks(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.MustSpawn(t, "w", "one", hosttest.InWorkspace)
	r.MustSpawn(t, "e", "one", hosttest.Ephemeral)
	noLocks(t, r)
	r.MustRespawn(t, "w")
	r.MustKill(t, worker.Selection{All: true}, kill.Request{RemoveWorkspace: true})
	noLocks(t, r)
	r.MustClean(t, "w")
	hosttest.CrashAt(t, r.Root, "before")
	if _, err := r.Watch().Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	noLocks(t, r)
}

func noLocks(t *testing.T, r *hosttest.Rig) {
	t.Helper()
	entries, err := os.ReadDir(r.StateDir().LockPath(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left: %s", e.Name())
	}
}

// A run directory whose lock is held is not removed, and one that has a record again
// is not either.
func TestDropRunDirsLocks(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	rec := r.Record(t, r.MustSpawn(t, "w", "one").Name)
	reg, err := r.Store().Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	drop := func(want int) {
		t.Helper()
		if n, err := r.History().DropRunDirs(t.Context(), reg); n != want || err != nil {
			t.Errorf("%d dropped, %v; want %d", n, err, want)
		}
	}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Leave(ctx, rec.ID) })
	drop(0) // its record is there
	unlock, err := r.StateDir().Lock(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, rec.ID) })
	drop(0)
	unlock()
	drop(1)
	if _, err := os.Stat(r.StateDir().RunDir(rec.ID)); err == nil {
		t.Error("it is still there")
	}
}
