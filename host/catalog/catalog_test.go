package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// place is a tree of directories with plugins in them.
type place struct {
	t    *testing.T
	root string
}

func newPlace(t *testing.T) place {
	t.Helper()
	// macOS: the temporary directory is behind a link.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return place{t, root}
}

func (p place) path(name string) string { return filepath.Join(p.root, name) }

// add makes an executable and returns its path.
func (p place) add(name string) string {
	p.t.Helper()
	path := p.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p place) link(to, name string) string {
	p.t.Helper()
	path := p.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p place) chmod(path string, mode os.FileMode) {
	p.t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

func TestFindOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := Options{
		Executable: p.link(p.add("opt/bin/swarm"), "bin/swarm"),
		Dir:        p.path("state"),
		Env:        []string{"PATH=/nowhere", "PATH=.:" + p.path("p1") + ":relative:" + p.path("p2")},
		Plugins:    map[string]Config{"x": {SHA256: "ab", MTLS: true, Config: map[string]any{"k": "v"}}},
	}
	// From the last place to the first: each new one hides those before.
	for _, dir := range []string{"p2", "p1", "state/plugins", "opt/libexec/swarm", "libexec/swarm", "opt/bin", "bin"} {
		want := p.add(dir + "/swarm-plugin-x")
		e, err := New(o).Find("x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Entry{Name: "x", Command: []string{want}, SHA256: "ab", MTLS: true, Config: map[string]any{"k": "v"}}, e); diff != "" {
			t.Error(diff)
		}
	}
	mine := p.add("mine/plugin.py")
	o.Plugins["x"] = Config{Command: []string{mine, "--fast"}}
	e, err := New(o).Find("x")
	if diff := cmp.Diff(Entry{Name: "x", Command: []string{mine, "--fast"}, Configured: true}, e); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestCommandIsLookedForInPath(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	tool := p.add("tools/runner")
	c := New(Options{Env: []string{"PATH=" + p.path("tools")}, Plugins: map[string]Config{
		"a": {Command: []string{"runner", "x"}},
		"b": {Command: []string{"walker"}},
		"c": {Command: []string{"./runner"}},
		"d": {Command: []string{p.path("tools/none")}},
	}})
	if e, err := c.Find("a"); err != nil || e.Path() != tool {
		t.Errorf("%+v, %v", e, err)
	}
	for name, want := range map[string]string{
		"b": "plugin 'b': walker (from the config) is neither in PATH nor an absolute path",
		"c": "plugin 'c': ./runner (from the config) is neither in PATH nor an absolute path",
		"d": "plugin 'd': " + p.path("tools/none") + " (from the config) does not exist",
	} {
		_, err := c.Find(name)
		var missing *MissingError
		if !errors.As(err, &missing) || err.Error() != want {
			t.Errorf("Find(%s) = %v\nwant %s", name, err, want)
		}
	}
}

func TestNotFoundSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.add("bin/swarm-plugin-tmux")
	p.add("path/swarm-plugin-process")
	p.add("path/swarm-plugin-process") // twice
	p.add("path/swarm-plugin-Bad_Name")
	p.chmod(p.add("path/swarm-plugin-plain"), 0o644)
	c := New(Options{Executable: p.path("bin/swarm"), Env: []string{"PATH=" + p.path("path")}})
	_, err := c.Find("x")
	want := "no such plugin 'x'; plugins here: process, tmux (looked for swarm-plugin-x in " +
		p.path("bin") + ", " + p.path("libexec/swarm") + ", PATH)"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	for _, name := range []string{"", "../x", "X", "-x", "a b", "a/b"} {
		_, err := c.Find(name)
		var none *NotFoundError
		if !errors.As(err, &none) || none.Looked != nil {
			t.Errorf("Find(%q) = %v", name, err)
		}
	}
	if _, err := c.Find("plain"); err == nil || err.Error() != "plugin 'plain': "+p.path("path/swarm-plugin-plain")+": not executable" {
		t.Errorf("a plugin that is not executable: %v", err)
	}
}

func TestUnsafeIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const name = "swarm-plugin-x"
	file := p.add("file/" + name)
	p.chmod(file, 0o757)
	p.add("dir/" + name)
	p.chmod(p.path("dir"), 0o777)
	p.link(p.add("safe/"+name), "linkdir/"+name)
	p.chmod(p.path("linkdir"), 0o777)
	p.link(p.path("dir/"+name), "linked/"+name)
	p.add("sticky/" + name)
	p.chmod(p.path("sticky"), 0o777|os.ModeSticky)
	for dir, what := range map[string]string{
		"file": file, "dir": p.path("dir"), "linkdir": p.path("linkdir"), "linked": p.path("dir"),
		"safe": "", "sticky": "",
	} {
		c := New(Options{Env: []string{"PATH=" + p.path(dir)}})
		_, err := c.Find("x")
		var unsafe *UnsafeError
		switch {
		case what == "" && err != nil:
			t.Errorf("%s: %v", dir, err)
		case what != "" && (!errors.As(err, &unsafe) || unsafe.Rule.At != what):
			t.Errorf("%s: error %v, want one about %s", dir, err, what)
		}
		if list := c.List(); len(list) != 1 || list[0].Entry.Name != "x" || (list[0].Err == nil) != (what == "") {
			t.Errorf("%s: list %+v", dir, list)
		}
	}
}

func TestProgramNextTo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := New(Options{Executable: p.path("bin/swarm"), Dir: p.path("state"), Env: []string{"PATH=" + p.path("path")}})
	p.add("path/swarm-shim")
	p.add("state/plugins/swarm-shim")
	if got, err := c.ProgramPath("swarm-shim"); err == nil {
		t.Errorf("found %s, which was not installed with swarm", got)
	} else if want := "no swarm-shim in " + p.path("bin") + ", " + p.path("libexec/swarm"); err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	want := p.add("libexec/swarm/swarm-shim")
	if got, err := c.ProgramPath("swarm-shim"); err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

// Programs that another user wrote, or can replace, are refused wherever they were
// found. That includes what lies next to swarm, and directories far above.
func TestForeignIsRefused(t *testing.T) {
	t.Parallel()
	const (
		name     = "swarm-plugin-x"
		stranger = 4242
	)
	p := newPlace(t)
	give := func(path string, uid, gid int) {
		t.Helper()
		if err := os.Lchown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	libexec := func(root string) { p.add(root + "/swarm/bin/swarm"); p.add(root + "/swarm/libexec/swarm/" + name) }
	libexec("open")
	p.chmod(p.path("open"), 0o777)
	cases := map[string]string{"open": "can be written by everybody"}
	if os.Geteuid() == 0 { // no other user can give files away
		libexec("theirs")
		give(p.path("theirs/swarm/libexec/swarm/"+name), stranger, stranger)
		libexec("above")
		give(p.path("above"), stranger, 0)
		libexec("group")
		give(p.path("group/swarm/libexec/swarm"), 0, stranger)
		p.chmod(p.path("group/swarm/libexec/swarm"), 0o775)
		cases["theirs"], cases["above"] = "is owned by uid 4242, not by you or root", "is owned by uid 4242, not by you or root"
		cases["group"] = "can be written by its group"
	}
	for root, reason := range cases {
		bin, libexec := p.path(root+"/swarm/bin"), p.path(root+"/swarm/libexec/swarm")
		nextTo := New(Options{Executable: bin + "/swarm", Env: []string{"PATH=/nowhere"}})
		inPath := New(Options{Env: []string{"PATH=" + libexec}})
		configured := New(Options{Plugins: map[string]Config{"x": {Command: []string{libexec + "/" + name}}}})
		for how, c := range map[string]*Catalog{"next to": nextTo, "PATH": inPath, "config": configured} {
			_, err := c.Find("x")
			unsafe, ok := errors.AsType[*UnsafeError](err)
			if !ok || unsafe.Rule.Reason != reason {
				t.Errorf("%s, found by %s: %v, want one that %s", root, how, err, reason)
			}
		}
		if path, err := nextTo.ProgramPath(name); err == nil || path != "" {
			t.Errorf("%s: ProgramPath = %q, %v", root, path, err)
		}
	}
}

// TestTogether: without links, a plugin that comes with swarm is found in the program that holds
// several, next to swarm alone, and after a file of its own name.
func TestTogether(t *testing.T) {
	t.Parallel()
	bin, elsewhere := t.TempDir(), t.TempDir()
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	program := filepath.Join(bin, "swarm-plugins")
	write(program)
	write(filepath.Join(elsewhere, "swarm-engines"))
	c := New(Options{Executable: filepath.Join(bin, "swarm"), Env: []string{"PATH=" + elsewhere}})
	if diff := cmp.Diff([]string{"copy", "notify", "process", "ssh", "tmux", "worktree"}, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if e, err := c.Find("tmux"); err != nil || !slices.Equal(e.Command, []string{program, "tmux"}) {
		t.Errorf("%v, %v", e.Command, err)
	}
	if e, err := c.Find("nomad"); err == nil {
		t.Errorf("a program of the PATH holds it: %v", e.Command)
	}
	own := filepath.Join(bin, Program("tmux"))
	write(own)
	if e, err := c.Find("tmux"); err != nil || !slices.Equal(e.Command, []string{own}) {
		t.Errorf("with a file of its own: %v, %v", e.Command, err)
	}
}
