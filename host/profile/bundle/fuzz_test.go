package bundle

import (
	"archive/tar"
	"path/filepath"
	"testing"
)

// FuzzReadArchive: an archive is refused, or is a bundle that stays the same when it is installed.
func FuzzReadArchive(f *testing.F) {
	whole := []*tar.Header{}
	for name, text := range small {
		whole = append(whole, &tar.Header{Name: "top/" + name, Uname: text})
	}
	f.Add(archiveOf(f, whole...))
	f.Add(archiveOf(f, &tar.Header{Name: ManifestFile, Uname: manifestText}, &tar.Header{Name: "a.toml", Uname: "x"}))
	f.Add([]byte(manifestText))
	path := filepath.Join(f.TempDir(), "profiles.tar")
	f.Fuzz(func(t *testing.T, archive []byte) {
		b, err := ReadArchive("x", archive)
		if err != nil {
			return
		}
		if err := b.Write(path, Origin{}); err != nil {
			t.Fatal(err)
		}
		if again, _, err := ReadInstalled(path, true); err != nil || !again.Equal(b) {
			t.Errorf("installed, it is %+v, not %+v: %v", again, b, err)
		}
	})
}
