package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oldSparse is a tar file with an entry in the old format of GNU tar, which is a hole
// of that size and nothing else.
func oldSparse(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	if err := out.WriteHeader(&tar.Header{Name: "hole", Typeflag: tar.TypeReg, Mode: 0o600, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	block := b.Bytes()[:512]
	block[156] = tar.TypeGNUSparse
	copy(block[386:], fmt.Sprintf("%011o\x00%011o\x00", size, 0)) // one piece of no data at the end
	copy(block[483:], fmt.Sprintf("%011o\x00", size))
	copy(block[148:], "        ")
	sum := 0
	for _, c := range block {
		sum += int(c)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b.Bytes()
}

// newSparse is the same in the format 1.0 of GNU tar, which package tar can't write.
func newSparse(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	// The map: one piece, at the end, of no data.
	content := fmt.Sprintf("1\n%d\n0\n", size)
	content += strings.Repeat("\x00", 512-len(content))
	h := &tar.Header{Name: "hole", Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content)), Format: tar.FormatPAX, PAXRecords: map[string]string{
		"XXX.sparse.major": "1", "XXX.sparse.minor": "0", "XXX.sparse.name": "hole", "XXX.sparse.realsize": fmt.Sprint(size),
	}}
	err := out.WriteHeader(h)
	if err == nil {
		_, err = out.Write([]byte(content))
	}
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("XXX.sparse"), []byte("GNU.sparse"))
}

// A file with holes is refused before anything of it is written.
func TestSparseIsRefused(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"old": oldSparse(t, 1<<20), "old and large": oldSparse(t, 4<<30), "new": newSparse(t, 1<<20), "new and large": newSparse(t, 4<<40),
	} {
		// It must be what package tar takes for a file of that size, or it proves nothing.
		if h, err := tar.NewReader(bytes.NewReader(content)).Next(); err != nil || h.Size < 1<<20 {
			t.Fatalf("%s: %+v, %v", name, h, err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		if _, err := z.Write(content); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		archive, dir := filepath.Join(t.TempDir(), "archive"), t.TempDir()
		if err := os.WriteFile(archive, zipped.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := unpack(t.Context(), archive, dir, "x")
		if err == nil || !strings.Contains(err.Error(), `refused: "hole" is a sparse file`) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: written: %v, %v", name, left, err)
		}
	}
}
