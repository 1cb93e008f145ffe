package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// verify only reports whether a plugin is what it has to be.
func verify(s *Set, e catalog.Entry) error {
	p, err := s.verify(e)
	if p != nil {
		p.close()
	}
	return err
}

func TestPin(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	path := filepath.Join(t.TempDir(), "swarm-plugin-x")
	write := func(text string) string {
		t.Helper()
		if err := buildtest.Write(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	want := write("one")
	e := catalog.Entry{Name: "x", Command: []string{path}, SHA256: want}
	if err := verify(s, e); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(s.opts.Dir, pinFile)
	info, err := os.Stat(cache)
	if err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Fatalf("cache: %v, %v", info, err)
	}

	// The second look goes by what is remembered: forge it to see.
	known := readPins(s.opts.Dir)
	forged := known[path]
	forged.SHA256 = "00"
	forge, err := json.Marshal(map[string]pinned{path: forged})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, forge, 0o600); err != nil {
		t.Fatal(err)
	}
	s.known = nil // as in the next command
	var pin *PinError
	if err := verify(s, e); !errors.As(err, &pin) || pin.Got != "00" || pin.Want != want {
		t.Errorf("the file was hashed again although it did not change: %v", err)
	}

	got := write("two")
	if err := verify(s, e); !errors.As(err, &pin) || pin.Got != got {
		t.Errorf("a file of the same size that was changed: %v", err)
	}
	write("one")
	if err := verify(s, e); err != nil {
		t.Errorf("changed back: %v", err)
	}
	if err := os.WriteFile(cache, []byte("{damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.known = nil
	if err := verify(s, e); err != nil {
		t.Errorf("with a damaged cache: %v", err)
	}
	left, err := filepath.Glob(cache + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left: %v, %v", left, err)
	}
}

func TestChangedAfterInstall(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	i := &catalog.Installed{Dir: t.TempDir(), Manifest: catalog.Manifest{Version: "1.2.0"}}
	for _, name := range []string{"swarm-plugin-x", "lib/part.py"} {
		f := catalog.File{Path: name}
		if err := os.MkdirAll(filepath.Dir(i.Path(f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := buildtest.Write(i.Path(f), []byte(name), 0o700); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(name))
		f.SHA256 = hex.EncodeToString(sum[:])
		i.Files = append(i.Files, f)
	}
	e := catalog.Entry{Name: "x", Command: []string{i.Path(i.Files[0])}, Installed: i}
	if err := verify(s, e); err != nil {
		t.Fatal(err)
	}
	part := i.Path(i.Files[1])
	if err := buildtest.Write(part, []byte("lib/evil.py"), 0o700); err != nil { // of the same size
		t.Fatal(err)
	}
	var changed *ChangedError
	if err := verify(s, e); !errors.As(err, &changed) || changed.Path != part || changed.Want != i.Files[1].SHA256 || changed.Got == "" {
		t.Errorf("a changed file: %v", err)
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	want := "plugin 'x': " + part + " is missing from version 1.2.0; install it again with --force"
	if err := verify(s, e); err == nil || err.Error() != want {
		t.Errorf("a file that is gone: %v\nwant %s", err, want)
	}
}

// TestProgramOfProject: what a trusted project runs of itself has to be what was there when it was
// trusted, arguments included. Programs elsewhere, and those that the user's own file names, are not
// compared.
func TestProgramOfProject(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	dir := t.TempDir()
	program, script, outside := filepath.Join(dir, "bin/plugin"), filepath.Join(dir, "plugin.py"), filepath.Join(t.TempDir(), "outside")
	write := func(path, text string) (hash string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
		hash, err := hashOf(path)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	s.opts.Trusted = map[string]string{program: write(program, "one"), script: write(script, "one")}
	write(outside, "one")
	entry := func(source string, command ...string) catalog.Entry {
		return catalog.Entry{Name: "x", Command: command, Configured: true, Source: source}
	}
	project := filepath.Join(dir, "swarm.toml")
	check := func(when string, e catalog.Entry, path string) {
		t.Helper()
		err := verify(s, e)
		var untrusted *TrustError
		if errors.As(err, &untrusted) != (path != "") || path != "" && (untrusted.Path != path || untrusted.Project != dir) || path == "" && err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	check("trusted", entry(project, program), "")
	check("trusted with an argument", entry(project, outside, script, "--fast"), "")
	write(program, "two")
	write(script, "two")
	check("changed", entry(project, program), program)
	check("changed argument", entry(project, outside, script), script)
	check("a way around", entry(project, dir+"/bin/../bin/plugin"), dir+"/bin/../bin/plugin")
	check("of the user", entry("user", program, script), "")
	check("another project", entry(filepath.Join(outside, "swarm.toml"), program), "")
	pinned := entry(project, program)
	pinned.SHA256, _ = hashOf(program)
	check("pinned by the file itself", pinned, "")
	s.opts.Trusted[program] = pinned.SHA256
	check("trusted again", entry(project, program), "")
}
