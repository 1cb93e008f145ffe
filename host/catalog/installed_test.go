package catalog

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// install puts a version of a plugin into the state directory, as package install
// does; edit changes what is remembered of it.
func (p place) install(name, version string, edit func(*Manifest)) string {
	p.t.Helper()
	dir := filepath.Join("state", Folder, name, version)
	path := p.add(filepath.Join(dir, Program(name)))
	m := Manifest{Format: 1, Name: name, Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, Files: []File{{Path: Program(name)}}}
	if edit != nil {
		edit(&m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(filepath.Join(dir, ManifestFile)), text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// found is the path of what a config finds.
func (p place) found(conf Config) string {
	p.t.Helper()
	e, err := New(Options{
		Dir: p.path("state"), Executable: p.path("bin/swarm"), Env: []string{"PATH=" + p.path("path")}, Plugins: map[string]Config{"x": conf},
	}).Find("x")
	if err != nil {
		p.t.Fatal(err)
	}
	return e.Path()
}

func TestWhichVersion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.add("path/swarm-plugin-x")
	p.add("state/plugins/swarm-plugin-x")
	old := p.install("x", "1.2.0", nil)
	newest := p.install("x", "1.10.0", nil)
	p.add("state/plugins/x/src/main.go") // no version
	if got := p.found(Config{}); got != newest {
		t.Errorf("found %s, want the newest", got)
	}
	for _, v := range []string{"1.2.0", "v1.2.0"} {
		if got := p.found(Config{Version: v}); got != old {
			t.Errorf("found %s, want %s", got, v)
		}
	}
	mine := p.add("mine/x")
	if got := p.found(Config{Command: []string{mine}}); got != mine {
		t.Errorf("found %s, want the command", got)
	}
	// The plugins that come with swarm are found first, unless a version is asked for.
	shipped := p.add("bin/swarm-plugin-x")
	if got := p.found(Config{}); got != shipped {
		t.Errorf("found %s, want the one next to swarm", got)
	}
	if got := p.found(Config{Version: "1.2.0"}); got != old {
		t.Errorf("found %s, want the version", got)
	}
	c := New(Options{Dir: p.path("state"), Executable: p.path("bin/swarm"), Plugins: map[string]Config{"x": {Command: []string{mine}, MTLS: true}}})
	e, err := c.FindVersion("x", "1.2.0")
	if err != nil || e.Path() != old || e.Version != "1.2.0" || !e.MTLS || e.Configured {
		t.Errorf("the recorded version: %+v, %v", e, err)
	}
	if diff := cmp.Diff([]string{"x"}, c.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestInstalledIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*Manifest)
		then func(p place, dir string)
		want string
	}{
		"another OS":      {edit: func(m *Manifest) { m.OS = "plan9" }, want: "plugin 'x' 1 is built for plan9/" + runtime.GOARCH + "; this machine is " + runtime.GOOS + "/" + runtime.GOARCH},
		"another arch":    {edit: func(m *Manifest) { m.Arch = "vax" }, want: "is built for " + runtime.GOOS + "/vax; this machine is "},
		"later format":    {edit: func(m *Manifest) { m.Format = 2 }, want: "plugin 'x' 1 is damaged: swarm-manifest.json: format 2, this swarm reads format 1: update swarm"},
		"another plugin":  {edit: func(m *Manifest) { m.Name = "y" }, want: "it is of 'y' 1"},
		"another version": {edit: func(m *Manifest) { m.Version = "2" }, want: "it is of 'x' 2"},
		"no files":        {edit: func(m *Manifest) { m.Files = nil }, want: "its first file is not swarm-plugin-x"},
		"another program": {edit: func(m *Manifest) { m.Files[0].Path = "../../../bin/sh" }, want: "its first file is not swarm-plugin-x"},
		"a way out": {
			edit: func(m *Manifest) { m.Files = append(m.Files, File{Path: "lib/../../../x"}) },
			want: `the path "lib/../../../x" escapes the folder`,
		},
		"no manifest": {then: func(p place, dir string) { p.remove(filepath.Join(dir, ManifestFile)) }, want: "swarm-manifest.json: no such file or directory"},
		"half a manifest": {then: func(p place, dir string) {
			if err := os.Truncate(filepath.Join(dir, ManifestFile), 20); err != nil {
				p.t.Fatal(err)
			}
		}, want: "swarm-manifest.json: unexpected end of JSON input; install it again with --force, or remove it"},
		"no program":        {then: func(p place, dir string) { p.remove(filepath.Join(dir, Program("x"))) }, want: "swarm-plugin-x does not exist"},
		"state for all":     {then: func(p place, _ string) { p.chmod(p.path("state"), 0o777) }, want: "can be written by everybody (chmod o-w "},
		"plugins for all":   {then: func(p place, dir string) { p.chmod(filepath.Dir(filepath.Dir(dir)), 0o777) }, want: "can be written by everybody (chmod o-w "},
		"versions for all":  {then: func(p place, dir string) { p.chmod(filepath.Dir(dir), 0o777) }, want: "can be written by everybody (chmod o-w "},
		"version for all":   {then: func(p place, dir string) { p.chmod(dir, 0o777) }, want: "can be written by everybody (chmod o-w "},
		"program for all":   {then: func(p place, dir string) { p.chmod(filepath.Join(dir, Program("x")), 0o777) }, want: "can be written by everybody (chmod o-w "},
		"program elsewhere": {then: func(p place, dir string) { p.move(filepath.Join(dir, Program("x"))) }, want: "swarm-plugin-x is a symbolic link, and an installation has none"},
		"version elsewhere": {then: func(p place, dir string) { p.move(dir) }, want: "x/1 is a symbolic link"},
		"plugin elsewhere":  {then: func(p place, dir string) { p.move(filepath.Dir(dir)) }, want: "plugins/x is a symbolic link"},
		"all elsewhere":     {then: func(p place, dir string) { p.move(filepath.Dir(filepath.Dir(dir))) }, want: "state/plugins is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			dir := filepath.Dir(p.install("x", "1", tc.edit))
			if tc.then != nil {
				tc.then(p, dir)
			}
			_, err := New(Options{Dir: p.path("state")}).Find("x")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %s", err, tc.want)
			}
		})
	}
}

func (p place) remove(path string) {
	p.t.Helper()
	if err := os.Remove(path); err != nil {
		p.t.Fatal(err)
	}
}

// move moves path elsewhere and leaves a link.
func (p place) move(path string) {
	p.t.Helper()
	to := p.path("elsewhere")
	if err := errors.Join(os.Rename(path, to), os.Symlink(to, path)); err != nil {
		p.t.Fatal(err)
	}
}

func TestVersionThatIsNotInstalled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := New(Options{Dir: p.path("state"), Plugins: map[string]Config{"x": {Version: "2"}}})
	var none *VersionError
	if _, err := c.Find("x"); !errors.As(err, &none) || err.Error() != "plugin 'x': version 2 is not installed, nor is any other" {
		t.Errorf("no version: %v", err)
	}
	p.install("x", "1", nil)
	if _, err := c.Find("x"); !errors.As(err, &none) || err.Error() != "plugin 'x': version 2 is not installed; installed: 1" {
		t.Errorf("another version: %v", err)
	}
	for _, name := range []string{"", "..", "../x", "x/1"} {
		if got := c.Versions(name); got != nil {
			t.Errorf("versions of %q: %v", name, got)
		}
	}
}
