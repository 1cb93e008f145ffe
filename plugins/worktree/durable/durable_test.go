package durable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/safefile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o400)); err != nil {
		t.Fatal(err)
	}
}

// TestObjects finds loose objects in a directory of objects and in those that it borrows from,
// also from one that borrows from it in turn.
func TestObjects(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	other := t.TempDir()
	write(t, common+"/objects/info/alternates", "# a comment\n\n"+other+"\n/no/such/directory\n")
	write(t, other+"/info/alternates", common+"/objects\n")
	write(t, common+"/objects/ab/cd", "x")
	write(t, other+"/ef/01", "x")
	write(t, other+"/pack/pack-1.pack", "x")
	loose, err := Objects(common, []string{"abcd", "ef01", "2345", "x"})
	slices.Sort(loose)
	if err != nil || !slices.Equal(loose, []string{"abcd", "ef01"}) {
		t.Errorf("loose are %q, %v", loose, err)
	}
	if loose, err := Objects(t.TempDir(), nil); err != nil || len(loose) > 0 {
		t.Errorf("without objects: %q, %v", loose, err)
	}
}

// TestRefs writes references with and without files of their own.
func TestRefs(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	write(t, common+"/refs/heads/a", "x")
	write(t, common+"/logs/refs/heads/a", "x")
	write(t, common+"/packed-refs", "x")
	write(t, common+"/reftable/tables.list", "x")
	if err := Refs(common, "refs/heads/a", "refs/heads/packed", "refs/heads/a/below"); err != nil {
		t.Error(err)
	}
}

// TestPlanted: a link in the place of an object or of a reference is an error.
func TestPlanted(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	write(t, common+"/refs/heads/a", "x")
	write(t, common+"/objects/ab/cd", "x")
	for _, name := range []string{"refs/heads/b", "objects/ab/ef"} {
		if err := os.Symlink(common+"/refs/heads/a", filepath.Join(common, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Objects(common, []string{"abcd", "abef"}); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("an object that is a link: %v", err)
	}
	if err := Refs(common, "refs/heads/b"); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("a reference that is a link: %v", err)
	}
}
