package install

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPutExchanges: a version is replaced in one step, without a moment in which there
// is none. Setting the old one aside first can't work here.
func TestPutExchanges(t *testing.T) {
	t.Parallel()
	f, err := open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.close() }()
	for _, text := range []string{"old", "new"} {
		dir, _, err := f.stagingDir()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "VERSION"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.put(dir, "x", "1", filepath.Join(f.path, "nowhere", "old")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(f.dir("x", "1"), "VERSION")); err != nil || string(got) != text {
			t.Errorf("the version is %q, %v, want %q", got, err, text)
		}
	}
}
