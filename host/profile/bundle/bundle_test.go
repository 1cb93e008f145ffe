package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const manifestText = "format = 1\nversion = \"2026.11.27\"\n"

var small = map[string]string{
	"bundle.toml":                   manifestText,
	"claude.toml":                   "title = \"x\"\n",
	"screens/claude/prompt-one.txt": "# claude 2, 80x24\nhello\n",
	"README.md":                     "read me",
}

var smallBundle = &Bundle{
	Version: "2026.11.27", Profiles: map[string]string{"claude": "title = \"x\"\n"},
	Screens: map[string]string{"claude/prompt-one": "# claude 2, 80x24\nhello\n"},
}

func dirOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func archiveOf(t testing.TB, headers ...*tar.Header) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	for _, h := range headers {
		text := h.Uname // the content, for this test
		h.Uname, h.Size = "", int64(len(text))
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := archive.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// TestRead: a directory, an archive of it, and an archive that holds the directory are the same
// bundle.
func TestRead(t *testing.T) {
	t.Parallel()
	dir, err := ReadDir(dirOf(t, small))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(smallBundle, dir); diff != "" {
		t.Error(diff)
	}
	for _, top := range []string{"", "./", "profiles-1/"} {
		headers := []*tar.Header{{Name: "pax", Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}}
		for name, text := range small {
			headers = append(headers, &tar.Header{Name: top + name, Uname: text})
		}
		got, err := ReadArchive("x", archiveOf(t, headers...))
		if err != nil || !got.Equal(smallBundle) {
			t.Errorf("%q: %+v, %v", top, got, err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	ordered := []string{"2025.12.31", "2026.01.01", "2026.01.01.2", "2026.01.01.10", "2026.11.27"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := Compare(a, b), min(1, max(-1, i-j)); got != want {
				t.Errorf("Compare(%s, %s) = %d", a, b, got)
			}
		}
	}
	for text, want := range map[string]string{
		"format = 2\nversion = \"3\"\nnew = 1": "it has format 2, and this swarm reads format 1: a newer swarm is needed",
		"version = \"2026.11.27\"":             "expected format = 1, got 0",
		"format = 1\nversion = \"1.2\"":        `expected a version such as "2026.11.27" or "2026.11.27.2", got "1.2"`,
		"format = 1\nversion = \"2026.13.01\"": "expected a version",
		"format = \"1\"":                       "incompatible types",
		"format":                               "expected",
	} {
		if _, err := VersionIn(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := FromFiles("x", map[string][]byte{ManifestFile: []byte("format = 9")}); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer format: %v", err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	manifest := func() *tar.Header { return &tar.Header{Name: ManifestFile, Uname: manifestText} }
	many := []*tar.Header{manifest()}
	for i := range maxFiles {
		many = append(many, &tar.Header{Name: fmt.Sprintf("screens/claude/prompt-%d.txt", i)})
	}
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"link":       {archiveOf(t, manifest(), &tar.Header{Name: "claude.toml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), `refused: "claude.toml" is a link to "/etc/passwd"`},
		"hard link":  {archiveOf(t, manifest(), &tar.Header{Name: "claude.toml", Typeflag: tar.TypeLink, Linkname: "bundle.toml"}), "is a link to"},
		"device":     {archiveOf(t, manifest(), &tar.Header{Name: "claude.toml", Typeflag: tar.TypeChar}), "neither a file nor a directory"},
		"outside":    {archiveOf(t, manifest(), &tar.Header{Name: "../claude.toml", Uname: "x"}), "leads out of the archive"},
		"absolute":   {archiveOf(t, manifest(), &tar.Header{Name: "/claude.toml", Uname: "x"}), "leads out of the archive"},
		"twice":      {archiveOf(t, manifest(), manifest()), "twice"},
		"large file": {archiveOf(t, manifest(), &tar.Header{Name: "claude.toml", Uname: strings.Repeat("#", maxFile+1)}), "is larger than 256 KiB"},
		"bomb":       {archiveOf(t, manifest(), &tar.Header{Name: "x.bin", Uname: strings.Repeat("\x00", maxTotal)}), "larger than 32 MiB when unpacked"},
		"many":       {archiveOf(t, many...), "more than 5000"},
		"no gzip":    {[]byte(manifestText), "not an archive .tar.gz"},
		"no tar":     {zipped(t, "no tar"), "not a tar file"},
		"cut":        {archiveOf(t, manifest())[:60], "not a tar file"},
		"empty":      {archiveOf(t), "no file bundle.toml"},
		"no profile": {archiveOf(t, manifest()), "no file NAME.toml with a profile"},
		"name":       {archiveOf(t, manifest(), &tar.Header{Name: "Claude.toml", Uname: "x"}), `"Claude.toml": expected lower-case letters, digits and dashes, got "Claude"`},
		"screen":     {archiveOf(t, manifest(), &tar.Header{Name: "screens/claude/a b.txt", Uname: "x"}), `"screens/claude/a b.txt": expected`},
		"not UTF-8":  {archiveOf(t, manifest(), &tar.Header{Name: "claude.toml", Uname: "\xff"}), "is not UTF-8"},
	} {
		if _, err := ReadArchive("x", c.archive); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var data bytes.Buffer
	w := gzip.NewWriter(&data)
	if _, err := w.Write([]byte(strings.Repeat(text, 500))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// TestDirectoryLinks: no file is read through a link in the directory.
func TestDirectoryLinks(t *testing.T) {
	t.Parallel()
	elsewhere := dirOf(t, map[string]string{"claude/prompt-two.txt": "# x 1, 1x1\n"})
	for _, link := range []string{"codex.toml", "screens/claude/prompt-two.txt"} {
		dir := dirOf(t, small)
		if err := os.Symlink("/dev/zero", filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
			t.Errorf("%s: %v", link, err)
		}
	}
	dir := dirOf(t, small)
	if err := os.Symlink(filepath.Join(elsewhere, "claude"), filepath.Join(dir, "screens/codex")); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadDir(dir); err != nil || len(b.Screens) != 1 {
		t.Errorf("a link to a directory: %+v, %v", b, err)
	}
}

// TestInstalled: what is installed is read again, and a file that others can write, or that is
// damaged, is an error.
func TestInstalled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "profiles.tar")
	if _, _, err := ReadInstalled(path, true); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("nothing is installed: %v", err)
	}
	want := Origin{From: "/somewhere", SHA256: "ab", At: time.Now().UTC().Truncate(time.Second), Over: "2026.11.27"}
	if err := smallBundle.Write(path, want); err != nil {
		t.Fatal(err)
	}
	got, origin, err := ReadInstalled(path, true)
	if err != nil || !got.Equal(smallBundle) || origin != want {
		t.Errorf("%+v, %+v, %v", got, origin, err)
	}
	if got, _, err := ReadInstalled(path, false); err != nil || len(got.Profiles) != 1 || len(got.Screens) != 0 {
		t.Errorf("without screens: %+v, %v", got, err)
	}
	if err := os.Chmod(path, 0o602); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadInstalled(path, true); err == nil || !strings.Contains(err.Error(), "cannot be trusted") {
		t.Errorf("others can write it: %v", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Truncate(path, 600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadInstalled(path, true); err == nil {
		t.Error("a damaged file is read")
	}
}
