package statedir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRescueBases(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	// The last line was cut off.
	before := "\"/home/ann/a b\" \"\" \"copy\"\nbroken\n\"relative\" \"\" \"\"\n\"/r\"\n\"/r\" \"two\"\n\"/r\" \"\" \"co"
	if err := os.WriteFile(filepath.Join(string(d), rescuesFile), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	far := Repository{Base: "/r \"quoted\"\n", Host: "ann@devbox", Plugin: "ssh"}
	for range 2 {
		for _, r := range []Repository{far, {Base: "/r"}} {
			if err := d.NoteRescueBase(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []Repository{{Base: "/home/ann/a b", Plugin: "copy"}, far, {Base: "/r"}}
	if diff := cmp.Diff(want, d.RescueBases()); diff != "" {
		t.Error(diff)
	}
}
