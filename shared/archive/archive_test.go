package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// tree returns the files below a directory: contents, "-> " and targets of links, "/" for directories.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch e.Type() {
		case fs.ModeDir:
			files[name] = "/"
		case fs.ModeSymlink:
			target, _ := os.Readlink(path)
			files[name] = "-> " + target
		case 0:
			data, err := os.ReadFile(path)
			files[name] = string(data)
			return err
		default:
			files[name] = "special"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = errors.Join(err, os.Symlink(target, path))
		} else if content == "/" {
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func entries(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		h.Mode = 0o4755
		content := ""
		if h.Typeflag == tar.TypeReg {
			content = "content"
		}
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	files := map[string]string{
		"top": "/", "top/a": "A", "top/empty": "", "top/dir": "/", "top/dir/deep": "/", "top/dir/deep/b": "B\x00",
		"top/link": "-> dir/deep/b", "top/dir/up": "-> ../a",
	}
	write(t, from, files)
	old := time.Unix(1e9, 0)
	for name, mode := range map[string]fs.FileMode{"top/a": 0o751 | fs.ModeSetuid, "top/dir": 0o500} {
		path := filepath.Join(from, name)
		if err := errors.Join(os.Chmod(path, mode), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	var stream bytes.Buffer
	r, err := Pack(&stream, open(t, from), "top", "top")
	if err != nil || r.Files != 5 || r.Bytes != 3 || len(r.Skipped) != 0 {
		t.Fatalf("packed %+v, %v", r, err)
	}
	r, err = Unpack(&stream, open(t, to), "new")
	if err != nil || r.Files != 5 || r.Bytes != 3 || len(r.Skipped) != 0 {
		t.Fatalf("unpacked %+v, %v", r, err)
	}
	want := map[string]string{}
	for name, is := range files {
		want["new"+strings.TrimPrefix(name, "top")] = is
	}
	if diff := cmp.Diff(want, tree(t, to)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, mode := range map[string]fs.FileMode{"new/a": 0o751, "new/dir": 0o500 | fs.ModeDir} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || info.Mode() != mode || !info.ModTime().Equal(old) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	_ = os.Chmod(filepath.Join(from, "top/dir"), 0o700)
	_ = os.Chmod(filepath.Join(to, "new/dir"), 0o700)
}

func TestReplace(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	write(t, to, map[string]string{"dir/content": "old", "dir/kept": "kept", "outside": "outside", "dir/link": "-> ../outside"})
	stream := entries(t, tar.Header{Name: "x/", Typeflag: tar.TypeDir}, tar.Header{Name: "x/content"}, tar.Header{Name: "x/link"},
		tar.Header{Name: "x/hard", Typeflag: tar.TypeLink, Linkname: "x/content"})
	if _, err := Unpack(stream, open(t, to), "dir"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"dir": "/", "dir/content": "content", "dir/kept": "kept", "dir/link": "content", "dir/hard": "content", "outside": "outside",
	}
	if diff := cmp.Diff(want, tree(t, to)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHostileStreams: a stream that leads out of the directory makes nothing there.
func TestHostileStreams(t *testing.T) {
	t.Parallel()
	dir := tar.Header{Name: "x", Typeflag: tar.TypeDir}
	link := func(name, target string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
	}
	for name, c := range map[string]struct {
		entries []tar.Header
		err     string
	}{
		"up":                     {[]tar.Header{dir, {Name: "x/../../escaped"}}, "leads out"},
		"absolute":               {[]tar.Header{dir, {Name: "/escaped"}}, "leads out"},
		"not below":              {[]tar.Header{dir, {Name: "other"}}, "not below"},
		"over a link that stays": {[]tar.Header{dir, link("x/l", "."), {Name: "x/l/escaped"}}, "symbolic link"},
		"over a link in place":   {[]tar.Header{dir, {Name: "x/away/escaped"}}, "symbolic link"},
		"a directory for a link": {[]tar.Header{dir, {Name: "x/away", Typeflag: tar.TypeDir}}, "symbolic link"},
		"a hard link":            {[]tar.Header{dir, {Name: "x/h", Typeflag: tar.TypeLink, Linkname: "x/away/secret"}}, "no file of the stream"},
		"a hard link up":         {[]tar.Header{dir, {Name: "x/h", Typeflag: tar.TypeLink, Linkname: "../secret"}}, "leads out"},
		"links":                  {[]tar.Header{dir, link("x/a", "/etc"), link("x/b", ".."), link("x/c", "x/../.."), link("x/d", "./../../y")}, ""},
		"a device":               {[]tar.Header{dir, {Name: "x/dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			write(t, top, map[string]string{"away/secret": "s", "to/dir/away": "-> ../../away"})
			before := tree(t, filepath.Join(top, "away"))
			r, err := Unpack(entries(t, c.entries...), open(t, filepath.Join(top, "to")), "dir")
			if c.err == "" && (err != nil || len(r.Skipped) != len(c.entries)-1) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%+v, error %v", r, err)
			}
			if diff := cmp.Diff(before, tree(t, filepath.Join(top, "away"))); diff != "" {
				t.Errorf("outside (-before +after):\n%s", diff)
			}
			got := tree(t, top)
			delete(got, "to/dir/l")
			if diff := cmp.Diff(map[string]string{"away": "/", "away/secret": "s", "to": "/", "to/dir": "/", "to/dir/away": "-> ../../away"}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/a": "A"})
	if err := syscall.Mkfifo(filepath.Join(dir, "d/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stream bytes.Buffer
	r, err := Pack(&stream, open(t, dir), "d", "d")
	if err != nil || r.Files != 1 || !cmp.Equal(r.Skipped, []string{"d/fifo: a FIFO"}) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Pack(&stream, open(t, dir), "d/fifo", "fifo"); err == nil {
		t.Error("a FIFO was packed")
	}
	if _, err := Unpack(entries(t, tar.Header{Name: "x"}), open(t, dir), "d/fifo"); err == nil {
		t.Error("a file replaced a FIFO")
	}
	for as, want := range map[string]bool{"new": true, "new2/": false, ".": false, "d": false} {
		if _, err := Unpack(entries(t, tar.Header{Name: "x"}), open(t, dir), as); (err == nil) != want {
			t.Errorf("a file as %q: %v", as, err)
		}
	}
	if _, err := Unpack(new(bytes.Buffer), open(t, dir), "e"); !errors.Is(err, ErrEmpty) {
		t.Errorf("nothing: %v", err)
	}
}

// TestProgram runs the program on paths of both kinds.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"work/d/a": "A", "secret": "s", "work/out": "-> ..", "work/in": "-> d", "link": "-> work"})
	run := func(into bool, name, in string, confined bool, stdin *bytes.Buffer) (names []string, errs string, code int) {
		var out, said bytes.Buffer
		if stdin == nil {
			stdin = new(bytes.Buffer)
		}
		code = Main(Args(into, name, in, confined), stdin, &out, &said)
		for r := tar.NewReader(&out); ; {
			h, err := r.Next()
			if err != nil {
				return names, said.String(), code
			}
			names = append(names, h.Name)
		}
	}
	work := filepath.Join(dir, "work")
	for _, c := range []struct {
		name string
		want []string
		says string
	}{
		{"d", []string{"d/", "d/a"}, ""},
		{"d/", []string{"d/", "d/a"}, ""},
		{"./d/.", []string{"./", "a"}, ""},
		{"d/a", []string{"a"}, ""},
		{"in/a", []string{"a"}, ""},
		{"in", []string{"in"}, ""},
		{"in/.", []string{"./", "a"}, ""},
		{work + "/d", []string{"d/", "d/a"}, ""},
		{filepath.Join(dir, "link") + "/d/.", []string{"./", "a"}, ""},
		{"out/secret", nil, "leads out of the directory"},
		{"../secret", nil, "leads out of the directory"},
		{"out/.", nil, "leads out of the directory"},
		{"none", nil, "no such file"},
	} {
		names, errs, code := run(false, c.name, work, false, nil)
		if !cmp.Equal(names, c.want) || (code == 0) != (c.says == "") || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %q, code %d, %q", c.name, names, code, errs)
		}
	}
	if _, errs, code := run(false, "d", filepath.Join(dir, "link"), true, nil); code == 0 || !strings.Contains(errs, "symbolic link") {
		t.Errorf("a confined directory that became a link: code %d, %q", code, errs)
	}
	if names, errs, code := run(false, "d/a", work, true, nil); code != 0 {
		t.Errorf("a confined directory: %q, %q", names, errs)
	}
	for name, ok := range map[string]bool{"d": true, "in": true, ".": true, work: true, "out": false, "none": false, "d/a": false} {
		_, errs, code := run(true, name, work, false, entries(t, tar.Header{Name: "new"}))
		if (code == 0) != ok {
			t.Errorf("into %s: code %d, %q", name, code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("a file was made outside")
	}
	if code := Main(nil, nil, nil, new(bytes.Buffer)); code == 0 {
		t.Error("without arguments the code is 0")
	}
}
