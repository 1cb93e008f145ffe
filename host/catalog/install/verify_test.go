package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
)

func TestHashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archive := w.archive(archiveName("queue", "1.2.0"), file("swarm-plugin-queue", script))
	good, bad := sum(readFile(t, archive)), sum("other")
	base := filepath.Base(archive)
	for name, tc := range map[string]struct {
		list, given string
		refused     string // how; empty: it is not
	}{
		"none":                 {},
		"given":                {given: strings.ToUpper(good)},
		"given, another":       {given: bad, refused: "is " + good + ", expected " + bad + " (--sha256)"},
		"listed":               {list: bad + "  x\n" + good + "  " + base + "\n"},
		"listed, another":      {list: bad + "  " + base + "\n", refused: "expected " + bad + " (" + w.path(SumsFile) + ")"},
		"not listed":           {list: good + "  x" + base + "\n", refused: w.path(SumsFile) + " does not list " + base},
		"not listed but given": {list: "\n", given: good},
		"listed and given":     {list: bad + "  " + base + "\n", given: good, refused: "expected " + bad + " (" + w.path(SumsFile) + ")"},
	} {
		_ = os.Remove(w.path(SumsFile))
		if tc.list != "" {
			w.write(SumsFile, tc.list)
		}
		_ = os.RemoveAll(w.state)
		w.asked = 0
		_, err := w.request(Request{Path: archive, SHA256: tc.given})
		switch {
		case tc.refused == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused) || w.asked > 0):
			t.Errorf("%s: %v, started %d times", name, err, w.asked)
		}
	}
	// A list of other things may lie next to a plugin that was just built.
	w.write(SumsFile, bad+"  other\n")
	if _, err := w.install(w.write("swarm-plugin-queue", script)); err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.archive(archiveName("queue", "1.2.0"), file("swarm-plugin-queue", script), file("lib/a.py", "a"), file("lib/b.py", "b"))
	r, err := w.install(path)
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(r.Dir, name) }
	if err := os.MkdirAll(in("lib/__pycache__"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"lib/a.py": "A", "json.py": "evil", "lib/__pycache__/a.pyc": "x"} {
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(in("lib/b.py")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lib/a.py was changed: its sha256 was " + sum("a") + ", now it is " + sum("A"),
		"lib/b.py is missing", "json.py was not installed",
	}
	if diff := cmp.Diff(want, Verify(r.Installed)); diff != "" {
		t.Error(diff)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	for _, v := range []string{"1.0.0", "1.2.0", "1.10.0"} {
		w.about.Version = v
		if _, err := w.install(path); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(w.state, catalog.Folder, "swarm-plugin-other")
	if err := buildtest.Write(other, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var unknown *catalog.VersionError
	err := Remove(t.Context(), w.state, "queue", []string{"1.0.0", "2.0.0"})
	if !errors.As(err, &unknown) || unknown.Error() != "plugin 'queue': version 2.0.0 is not installed; installed: 1.10.0, 1.2.0, 1.0.0" {
		t.Errorf("an unknown version: %v", err)
	}
	for _, name := range []string{"..", "../plugins", "queue/1.0.0", ""} {
		if err := Remove(t.Context(), w.state, name, []string{"1.0.0"}); !errors.As(err, &unknown) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	if err := Remove(t.Context(), w.state, "queue", []string{"1.2.0"}); err != nil {
		t.Error(err)
	}
	if got := w.installed(); !slices.Equal(got, []string{"queue@1.10.0", "queue@1.0.0"}) {
		t.Errorf("left: %v", got)
	}
	if err := Remove(t.Context(), w.state, "queue", []string{"1.10.0", "1.0.0"}); err != nil {
		t.Error(err)
	}
	w.checkClean()
	if _, err := os.Stat(filepath.Join(w.state, catalog.Folder, "queue")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the plugin: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// A version that is a link is removed itself, not what it leads to; nothing is
// removed through the link of a plugin's folder.
func TestRemoveLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	precious := w.mkdir("precious/1.0.0", 0o755)
	w.write("precious/1.0.0/swarm-plugin-a", script)
	w.write("precious/1.0.0/swarm-plugin-b", script)
	w.mkdir("../state/plugins/a", 0o700)
	w.link(precious, "../state/plugins/a/1.0.0")
	w.link(filepath.Dir(precious), "../state/plugins/b")
	if _, err := w.catalog().Find("a"); err == nil || !strings.Contains(err.Error(), "a/1.0.0 is a symbolic link") {
		t.Errorf("find a: %v", err)
	}
	if _, err := w.catalog().Find("b"); err == nil || !strings.Contains(err.Error(), "plugins/b is a symbolic link") {
		t.Errorf("find b: %v", err)
	}
	if err := Remove(t.Context(), w.state, "a", []string{"1.0.0"}); err != nil {
		t.Error(err)
	}
	var link *catalog.LinkError
	if err := Remove(t.Context(), w.state, "b", []string{"1.0.0"}); !errors.As(err, &link) {
		t.Errorf("remove b: %v", err)
	}
	if _, err := os.Stat(filepath.Join(precious, "swarm-plugin-a")); err != nil {
		t.Error(err)
	}
	if got := w.installed(); !slices.Equal(got, []string{"b@1.0.0"}) {
		t.Errorf("left: %v", got)
	}
}

// Of many who install at once, all succeed, and one of them did it.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("swarm-plugin-queue", script)
	about := w.about
	var mu sync.Mutex
	var first int
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			one := &world{t: t, state: w.state, about: about}
			r, err := Install(t.Context(), Request{Dir: w.state, Path: path, Ask: one.ask})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			} else if !r.Already {
				first++
			}
		})
	}
	wg.Wait()
	if first != 1 {
		t.Errorf("installed %d times", first)
	}
	w.checkClean()
}

// The next installation removes the leftovers of one that was killed.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mkdir("../state/plugins/"+stagingPrefix+"1/tree", 0o700)
	if _, err := w.install(w.write("swarm-plugin-queue", script)); err != nil {
		t.Fatal(err)
	}
	if got := w.installed(); !slices.Equal(got, []string{"queue@1.2.0"}) {
		t.Errorf("installed: %v", got)
	}
}
