package history_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// A shim that listens needs its run directory, whatever its pid says here: in another
// PID namespace it says nothing.
func TestDropRunDirsOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	rec := r.Record(t, r.MustSpawn(t, "w", "one").Name)
	reg, err := r.Store().ToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status := rundir.EncodeStatus(rundir.Status{
		Version: rundir.StatusVersion, ID: rec.ID, State: rundir.StateRunning,
		Shim: rundir.Identity{PID: math.MaxInt32, Start: 1},
	})
	if err := os.WriteFile(filepath.Join(r.StateDir().RunDir(rec.ID), rundir.StatusFile), status, 0o600); err != nil {
		t.Fatal(err)
	}
	// The path of the directory itself may be too long for a socket.
	dir, err := os.Open(r.StateDir().RunDir(rec.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	listener, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), rundir.Socket))
	if err != nil {
		t.Fatal(err)
	}
	r.MustChange(t, func(ctx context.Context, tx *registry.Tx) error {
		return errors.Join(tx.Leave(ctx, rec.ID), tx.Delete(ctx, rec.ID))
	})
	if n, err := r.History().DropRunDirs(t.Context(), reg); n != 0 || err != nil {
		t.Errorf("%d dropped of a shim that listens, %v", n, err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.History().DropRunDirs(t.Context(), reg); n != 1 || err != nil {
		t.Errorf("%d dropped of a shim that is gone, %v", n, err)
	}
}
