package install

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"
)

// Whatever an archive holds, nothing is written outside of the folder, and in it
// nothing but files and directories.
func FuzzUnpack(f *testing.F) {
	for _, files := range [][]tar.Header{
		nil,
		{{Typeflag: tar.TypeReg, Name: "swarm-plugin-x", Mode: 0o755, Linkname: script}},
		{{Typeflag: tar.TypeReg, Name: "d/swarm-plugin-x", Mode: 0o4755, Linkname: script}, {Typeflag: tar.TypeReg, Name: "../up"}},
		{{Typeflag: tar.TypeSymlink, Name: "d", Linkname: "/tmp"}, {Typeflag: tar.TypeReg, Name: "d/x"}},
		{{Typeflag: tar.TypeDir, Name: "swarm-plugin-x"}, {Typeflag: tar.TypeFifo, Name: "fifo"}},
	} {
		f.Add([]byte(tarred(f, files...)))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		root := t.TempDir()
		archive, dir := filepath.Join(root, "archive"), filepath.Join(root, "in")
		if err := os.WriteFile(archive, []byte(zip(t, string(content))), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		top, err := unpack(t.Context(), archive, dir, "x")
		if err == nil {
			if _, err := list(top, "swarm-plugin-x"); err != nil {
				t.Errorf("unpacked, but: %v", err)
			}
		}
		entries, err := os.ReadDir(root)
		if err != nil || len(entries) != 2 {
			t.Errorf("next to the folder: %v, %v", entries, err)
		}
		err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%s is a %v", path, d.Type())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
