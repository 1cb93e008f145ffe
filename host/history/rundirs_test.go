package history_test

import (
	"context"
	"os"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
)

// A run directory whose lock is held is not removed, and one that has a record again
// is not either.
func TestDropRunDirsLocks(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	rec := r.Record(t, r.MustSpawn(t, "w", "one").Name)
	reg, err := r.Store().ToWrite(t.Context())
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
