package registry

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStaleBuild makes a database where one is left from an earlier boot, and one from this.
func TestStaleBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stale, recent := filepath.Join(dir, BuildPrefix+"1"), filepath.Join(dir, BuildPrefix+"2")
	for _, d := range []string{stale, recent} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(stale, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the database of an earlier boot is left")
	}
	if _, err := os.Lstat(recent); err != nil {
		t.Errorf("the database of this boot is gone: %v", err)
	}
}
