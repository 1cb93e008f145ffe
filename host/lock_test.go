package host

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/swarmhost/swarm/host/registry"
)

// A lock is held by one at a time although its file goes each time, and no file stays.
func TestLockFilesGo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var holders, held atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		other := rigIn(t, r.root)
		all.Go(func() {
			for range 100 {
				var unlock func()
				var err error
				if i%2 == 0 {
					unlock, err = other.dir.Lock(t.Context(), "w")
				} else {
					unlock, err = other.dir.TryLock("w")
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
				if !other.dir.Locked("w") {
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
	r.noLocks(t)
}

// Whatever becomes of workers, no lock's file outlives the call that took it.
func TestCallsLeaveNoLocks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawn(t, "w", "one", withTree)
	r.spawn(t, "e", "one", ephemeral)
	r.noLocks(t)
	r.respawn(t, "w")
	r.kill(t, Selection{All: true}, KillRequest{RemoveWorkspace: true})
	r.noLocks(t)
	r.clean(t, "w")
	crashAt(t, r.root, "before")
	if _, err := r.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.noLocks(t)
}

func (r *rig) noLocks(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(r.dir.LockPath(""))
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
	r := newRig(t)
	rec := r.record(t, r.spawn(t, "w", "one").Name)
	reg, err := r.store.Writing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	drop := func(want int) {
		t.Helper()
		if n, err := r.history.DropRunDirs(t.Context(), reg); n != want || err != nil {
			t.Errorf("%d dropped, %v; want %d", n, err, want)
		}
	}
	r.change(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Leave(ctx, rec.ID) })
	drop(0) // its record is there
	unlock, err := r.dir.Lock(t.Context(), rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.change(t, func(ctx context.Context, tx *registry.Tx) error { return tx.Delete(ctx, rec.ID) })
	drop(0)
	unlock()
	drop(1)
	if _, err := os.Stat(r.dir.RunDir(rec.ID)); err == nil {
		t.Error("it is still there")
	}
}
