package remote

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestInstallPrunes removes what old copies have left, and nothing of one that may be under way.
func TestInstallPrunes(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	programs := func(name string) string {
		dir := filepath.Join(bin, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, program := range Programs {
			if err := os.WriteFile(filepath.Join(dir, program), []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	old, fresh, from, other := programs("new.1"), programs("new.2"), programs("new.3"), programs("0123")
	long := time.Now().Add(-2 * pruneAfter)
	for _, dir := range []string{old, from, other} {
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := Verify(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := Install(from, hash); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{old: false, from: false, fresh: true, other: true, filepath.Join(bin, hash): true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
}
