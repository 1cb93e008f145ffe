package hosttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/machinetest"
)

// WantLogOnDisk fails the test if a part of the database's log is in memory only.
func (r *Rig) WantLogOnDisk(t testing.TB) {
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
