package hosttest

import (
	"os"
	"testing"
)

// WantNoLocks fails the test if a file of a lock is left.
func (r *Rig) WantNoLocks(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(r.StateDir().LockPath(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left: %s", e.Name())
	}
}
