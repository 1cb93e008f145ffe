package dirid

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestEnsure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "id")
	if id, err := Read(path); id != "" || err != nil {
		t.Errorf("before it is made: %q, %v", id, err)
	}
	ids := make([]string, 8)
	var making sync.WaitGroup
	for i := range ids {
		making.Go(func() {
			var err error
			if ids[i], err = Ensure(path); err != nil {
				t.Error(err)
			}
		})
	}
	making.Wait()
	for _, id := range ids {
		if id != ids[0] || len(id) != 26 {
			t.Errorf("the ids are %q", ids)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files are there, %v", len(entries), err)
	}
	if other, err := Ensure(filepath.Join(t.TempDir(), "id")); err != nil || other == ids[0] {
		t.Errorf("another directory has %q, %v", other, err)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := Ensure(path); err == nil {
		t.Errorf("it is read as %q", id)
	}
}
