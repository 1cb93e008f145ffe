package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// world is a state directory and a directory of downloads.
type world struct {
	t                *testing.T
	state, downloads string
	// about is what plugins say of themselves; asked counts how often.
	about About
	asked int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// macOS: the temporary directory is behind a link.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, state: filepath.Join(root, "state"), downloads: filepath.Join(root, "downloads"),
		about: About{Name: "queue", Version: "v1.2.0", Kind: "backend", Contract: 1},
	}
	if err := os.Mkdir(w.downloads, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// script is a plugin as far as this package looks into it.
const script = "#!/bin/sh\nexec real\n"

func (w *world) path(name string) string { return filepath.Join(w.downloads, name) }

func (w *world) write(name, content string) string {
	w.t.Helper()
	if err := buildtest.Write(w.path(name), []byte(content), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

func (w *world) install(path string) (*Result, error) {
	w.t.Helper()
	return w.request(Request{Path: path})
}

func (w *world) request(r Request) (*Result, error) {
	w.t.Helper()
	r.Dir = w.state
	r.Ask = w.ask
	result, err := Install(w.t.Context(), r)
	w.checkClean()
	return result, err
}

func (w *world) ask(_ context.Context, e catalog.Entry) (About, error) {
	w.asked++
	return w.about, e.Check()
}

// checkClean looks for what an installation may leave.
func (w *world) checkClean() {
	w.t.Helper()
	left, err := filepath.Glob(filepath.Join(w.state, catalog.Folder, stagingPrefix+"*"))
	if err != nil || len(left) > 0 {
		w.t.Errorf("left: %v, %v", left, err)
	}
}

func (w *world) catalog() *catalog.Catalog { return catalog.New(catalog.Options{Dir: w.state}) }

// installed are all versions of all plugins, as NAME@VERSION.
func (w *world) installed() []string {
	var all []string
	for _, name := range w.catalog().InstalledNames() {
		for _, v := range w.catalog().Versions(name) {
			all = append(all, name+"@"+v)
		}
	}
	return all
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

// archiveName is that of an archive for this machine.
func archiveName(name, version string) string {
	return "swarm-plugin-" + name + "_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

func file(name, content string) tar.Header {
	// The content travels in a field that tar ignores for files.
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o4777, Linkname: content}
}

func (w *world) archive(name string, files ...tar.Header) string {
	w.t.Helper()
	return w.write(name, packed(w.t, files...))
}

func packed(t *testing.T, files ...tar.Header) string {
	t.Helper()
	return zip(t, tarred(t, files...))
}

func tarred(t testing.TB, files ...tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for _, h := range files {
		content := ""
		if h.Typeflag == tar.TypeReg {
			content, h.Linkname = h.Linkname, ""
			h.Size = int64(len(content))
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInstallExecutable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	result, err := w.install(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.catalog().Find("queue")
	if err != nil || e.Path() != filepath.Join(w.state, "plugins/queue/1.2.0/swarm-plugin-queue") {
		t.Fatalf("%+v, %v", e, err)
	}
	want := catalog.Manifest{
		Format: 1, Name: "queue", Version: "1.2.0", Kind: "backend", Contract: 1, OS: "all", Arch: "all",
		Files:     []catalog.File{{Path: "swarm-plugin-queue", Size: int64(len(script)), SHA256: sum(script)}},
		Installed: result.Manifest.Installed, SourceSHA256: sum(script), Provenance: catalog.Provenance{Source: path},
	}
	if diff := cmp.Diff(want, e.Installed.Manifest); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"", "swarm-plugin-queue", catalog.ManifestFile} {
		info, err := os.Stat(filepath.Join(e.Installed.Dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestInstallArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for version, top := range map[string]string{"1.2.0": "", "1.3.0-rc.1_b2": "swarm-plugin-queue/"} {
		w.about.Version = version
		path := w.archive(archiveName("queue", version),
			tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}},
			tar.Header{Typeflag: tar.TypeDir, Name: "./" + top, Mode: 0o777},
			file(top+"LICENSE", "MIT"), file("./"+top+"swarm-plugin-queue", script), file(top+"lib/part.py", "x"))
		w.write(SumsFile, "0123  other\n"+sum(readFile(t, path))+" *"+filepath.Base(path)+"\n")
		if _, err := w.install(path); err != nil {
			t.Fatal(err)
		}
		i, err := w.catalog().Installed("queue", version)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range i.Files {
			names = append(names, f.Path)
			info, err := os.Stat(i.Path(f))
			if err != nil || info.Mode().Perm() != 0o700 || info.Mode()&os.ModeSetuid != 0 {
				t.Errorf("%s: %v, %v", f.Path, info.Mode(), err)
			}
		}
		slices.Sort(names[1:])
		if diff := cmp.Diff([]string{"swarm-plugin-queue", "LICENSE", "lib/part.py"}, names); diff != "" {
			t.Error(diff)
		}
		if wrong := Verify(i); wrong != nil {
			t.Error(wrong)
		}
	}
	if got := w.catalog().Versions("queue"); !slices.Equal(got, []string{"1.3.0-rc.1_b2", "1.2.0"}) {
		t.Errorf("versions %v", got)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestInstallAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	if _, err := w.install(path); err != nil {
		t.Fatal(err)
	}
	if r, err := w.install(path); err != nil || !r.Already {
		t.Errorf("the same again: %+v, %v", r, err)
	}
	other := script + "# other\n"
	w.write("swarm-plugin-queue", other)
	if _, err := w.install(path); !errors.Is(err, ErrExists) {
		t.Errorf("another file: %v", err)
	}
	i, err := w.catalog().Installed("queue", "1.2.0")
	if err != nil || i.Files[0].SHA256 != sum(script) {
		t.Fatalf("%+v, %v", i, err)
	}
	if r, err := w.request(Request{Path: path, Force: true}); err != nil || !r.Replaced {
		t.Errorf("with force: %+v, %v", r, err)
	}
	if got := readFile(t, i.Path(i.Files[0])); got != other {
		t.Errorf("installed is %q", got)
	}
	// A plugin that was changed afterwards does not count as the same.
	if err := buildtest.Write(i.Path(i.Files[0]), []byte("#!/bin/evil"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.install(path); !errors.Is(err, ErrExists) {
		t.Errorf("over a changed one: %v", err)
	}
	if r, err := w.request(Request{Path: path, Force: true}); err != nil || !r.Replaced {
		t.Errorf("over a changed one, with force: %+v, %v", r, err)
	}
	if got := readFile(t, i.Path(i.Files[0])); got != other {
		t.Errorf("installed is %q", got)
	}
	if err := os.Remove(filepath.Join(i.Dir, catalog.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.install(path); err == nil {
		t.Error("over a damaged one")
	}
	if _, err := w.request(Request{Path: path, Force: true}); err != nil {
		t.Errorf("over a damaged one, with force: %v", err)
	}
}

// TestFilesInThePlace of a version, which a user has put there, are not replaced by it.
func TestFilesInThePlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	dir := filepath.Join(w.state, catalog.Folder, "queue", "1.2.0")
	notes := filepath.Join(dir, "notes")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(notes, []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r, err := w.install(path); err == nil {
		t.Errorf("%+v", r)
	}
	if got := readFile(t, notes); got != "mine" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(notes); err != nil {
		t.Fatal(err)
	}
	if _, err := w.install(path); err != nil {
		t.Errorf("in the place of an empty directory: %v", err)
	}
}

// TestRequiredVersion: a program alone may be an older one under the name of the newest, signed by the same key.
func TestRequiredVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	if r, err := w.request(Request{Path: path, Version: "2.0.0"}); err == nil || !strings.Contains(err.Error(), `expected the version "2.0.0"`) {
		t.Errorf("%+v, %v", r, err)
	}
	if got := w.installed(); got != nil {
		t.Errorf("installed: %v", got)
	}
	if _, err := w.request(Request{Path: path, Version: "v1.2.0"}); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	good := file("swarm-plugin-queue", script)
	hello := func(files ...tar.Header) func(*world) string {
		return func(w *world) string { return w.archive(archiveName("queue", "1.2.0"), files...) }
	}
	plain := func(name, content string) func(*world) string {
		return func(w *world) string { return w.write(name, content) }
	}
	elsewhere := map[string]string{"linux": "darwin", "darwin": "linux"}[runtime.GOOS]
	for name, tc := range map[string]struct {
		source func(w *world) string
		about  About
		want   string
	}{
		"absolute path":     {source: hello(good, file("/etc/evil", "")), want: `refused: the path "/etc/evil" escapes the folder`},
		"path upwards":      {source: hello(good, file("../evil", "")), want: `refused: the path "../evil" escapes the folder`},
		"path up inside":    {source: hello(good, file("a/../../evil", "")), want: `refused: the path "a/../../evil" escapes the folder`},
		"directory upwards": {source: hello(good, tar.Header{Typeflag: tar.TypeDir, Name: "../evil/"}), want: "escapes the folder"},
		"backslash":         {source: hello(good, file(`..\evil`, "")), want: "escapes the folder"},
		"symlink":           {source: hello(good, tar.Header{Typeflag: tar.TypeSymlink, Name: "x", Linkname: "/etc"}), want: `refused: "x" is a link to "/etc"`},
		"hard link":         {source: hello(good, tar.Header{Typeflag: tar.TypeLink, Name: "x", Linkname: "../../swarm.db"}), want: `refused: "x" is a link to "../../swarm.db"`},
		"plugin is a link":  {source: hello(tar.Header{Typeflag: tar.TypeSymlink, Name: "swarm-plugin-queue", Linkname: "/bin/sh"}), want: `is a link to "/bin/sh"`},
		"FIFO":              {source: hello(good, tar.Header{Typeflag: tar.TypeFifo, Name: "x"}), want: `refused: "x" is neither a file nor a directory`},
		"device":            {source: hello(good, tar.Header{Typeflag: tar.TypeChar, Name: "x"}), want: `refused: "x" is neither a file nor a directory`},
		"twice":             {source: hello(good, good), want: `refused: the archive holds "swarm-plugin-queue" twice`},
		"own manifest":      {source: hello(good, file(catalog.ManifestFile, "{}")), want: "swarm writes " + catalog.ManifestFile + " itself"},
		"no plugin in it":   {source: hello(file("swarm-plugin-other", script)), want: "the archive has no file swarm-plugin-queue"},
		"no archive":        {source: plain(archiveName("queue", "1.2.0"), script), want: "not a gzip file"},
		"no tar":            {source: func(w *world) string { return w.write(archiveName("queue", "1.2.0"), zip(w.t, script)) }, want: "not a tar file"},
		"cut": {source: func(w *world) string {
			whole := packed(w.t, good)
			return w.write(archiveName("queue", "1.2.0"), whole[:len(whole)-4])
		}, want: "unexpected EOF"},
		"checksum": {source: func(w *world) string {
			whole := []byte(packed(w.t, good))
			whole[len(whole)-8] ^= 1
			return w.write(archiveName("queue", "1.2.0"), string(whole))
		}, want: "gzip: invalid checksum"},

		"name upwards":       {source: func(w *world) string { return w.write("swarm-plugin-..", script) }, want: "a plugin is named swarm-plugin-NAME"},
		"name in capitals":   {source: plain("swarm-plugin-Queue", script), want: "a plugin is named swarm-plugin-NAME"},
		"no name":            {source: plain("queue", script), want: "a plugin is named swarm-plugin-NAME"},
		"archive without OS": {source: plain("swarm-plugin-queue_1.2.0.tar.gz", ""), want: "an archive is named swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz"},
		"version upwards":    {source: plain(archiveName("queue", ".."), ""), want: `".." is not a version`},
		"other OS": {
			source: plain("swarm-plugin-queue_1.2.0_"+elsewhere+"_"+runtime.GOARCH+".tar.gz", ""),
			want:   " is built for " + elsewhere + "/" + runtime.GOARCH + "; this machine is " + runtime.GOOS + "/" + runtime.GOARCH,
		},
		"other arch":       {source: plain("swarm-plugin-queue_1.2.0_"+runtime.GOOS+"_sparc.tar.gz", ""), want: " is built for " + runtime.GOOS + "/sparc; this machine is "},
		"other program":    {source: hello(file("swarm-plugin-queue", elfOf(t, "sparc"))), want: "machine 0x2b; this machine is " + runtime.GOOS + "/" + runtime.GOARCH},
		"no program":       {source: plain("swarm-plugin-queue", "hello"), want: "not a program"},
		"empty":            {source: plain("swarm-plugin-queue", ""), want: "not a program"},
		"not there":        {source: func(w *world) string { return w.path("swarm-plugin-queue") }, want: "does not exist"},
		"a directory":      {source: func(w *world) string { return w.mkdir("swarm-plugin-queue", 0o755) }, want: "not a file"},
		"writable for all": {source: func(w *world) string { return w.chmod(w.write("swarm-plugin-queue", script), 0o777) }, want: "can be written by everybody"},
		"folder writable for all": {source: func(w *world) string {
			w.chmod(w.downloads, 0o777)
			return w.write("swarm-plugin-queue", script)
		}, want: "can be written by everybody"},
		"plugins writable for all": {source: func(w *world) string {
			w.chmod(w.mkdir("../state", 0o700), 0o700)
			w.chmod(w.mkdir("../state/plugins", 0o777), 0o777)
			return w.write("swarm-plugin-queue", script)
		}, want: "can be written by everybody"},
		"plugins elsewhere": {source: func(w *world) string {
			w.mkdir("../state", 0o700)
			w.link(w.mkdir("elsewhere", 0o755), "../state/plugins")
			return w.write("swarm-plugin-queue", script)
		}, want: "plugins is a symbolic link"},
		"its folder elsewhere": {source: func(w *world) string {
			w.mkdir("../state/plugins", 0o700)
			w.link(w.mkdir("elsewhere", 0o755), "../state/plugins/queue")
			return w.write("swarm-plugin-queue", script)
		}, want: "plugins/queue is a symbolic link"},

		"other name":    {source: plain("swarm-plugin-queue", script), about: About{Name: "other", Version: "1.2.0", Kind: "backend"}, want: `expected the name "queue", the plugin reports "other"`},
		"other version": {source: hello(good), about: About{Name: "queue", Version: "1.3.0", Kind: "backend"}, want: `expected the version "1.2.0", the plugin reports "1.3.0"`},
		"bad version":   {source: plain("swarm-plugin-queue", script), about: About{Name: "queue", Version: "../../x", Kind: "backend"}, want: `the plugin reports "../../x"`},
		"no version":    {source: plain("swarm-plugin-queue", script), about: About{Name: "queue", Kind: "backend"}, want: `expected a version such as "1.2.0", the plugin reports ""`},
		"other kind":    {source: plain("swarm-plugin-queue", script), about: About{Name: "queue", Version: "1.2.0"}, want: "expected the kind backend, workspace, tools or notifier"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			known := tc.about != About{}
			if known {
				w.about = tc.about
			}
			_, err := w.install(tc.source(w))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %s", err, tc.want)
			}
			if got := w.installed(); got != nil {
				t.Errorf("installed: %v", got)
			}
			if w.asked > 0 && !known && name != "its folder elsewhere" {
				t.Error("it was started all the same")
			}
			if found, _ := filepath.Glob(filepath.Join(filepath.Dir(w.state), "*evil*")); found != nil {
				t.Errorf("escaped: %v", found)
			}
		})
	}
}

// An error of the plugin itself is returned unchanged, and nothing is installed.
func TestPluginThatDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refusal := errors.New("plugin 'queue' speaks version 2 of the plugin contract, this swarm speaks version 1: update swarm")
	path := w.write("swarm-plugin-queue", script)
	_, err := Install(t.Context(), Request{Dir: w.state, Path: path, Ask: func(context.Context, catalog.Entry) (About, error) {
		return About{}, refusal
	}})
	if !errors.Is(err, refusal) || w.installed() != nil {
		t.Errorf("%v, installed: %v", err, w.installed())
	}
	w.checkClean()
}

func (w *world) mkdir(name string, mode os.FileMode) string {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), mode); err != nil {
		w.t.Fatal(err)
	}
	return w.path(name)
}

func (w *world) chmod(path string, mode os.FileMode) string {
	w.t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(to, w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func zip(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(content))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
