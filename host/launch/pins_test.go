package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// installed makes a plugin with that many other files in the state directory of a set.
func installed(t *testing.T, s *Set, name, version string, files int) catalog.Entry {
	t.Helper()
	i := &catalog.Installed{
		Dir:      filepath.Join(s.opts.Dir, catalog.Folder, name, version),
		Manifest: catalog.Manifest{Name: name, Version: version},
	}
	add := func(path string) {
		f := catalog.File{Path: path}
		if err := os.MkdirAll(filepath.Dir(i.Path(f)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := buildtest.Write(i.Path(f), []byte(path), 0o700); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(path))
		f.SHA256 = hex.EncodeToString(sum[:])
		i.Files = append(i.Files, f)
	}
	add(catalog.Program(name))
	for n := range files {
		add(fmt.Sprintf("node_modules/m%d/f%d.js", n/10, n))
	}
	return catalog.Entry{Name: name, Command: []string{i.Path(i.Files[0])}, Installed: i}
}

// again returns a set of the same state directory, as the next command has it.
func again(s *Set) *Set { return New(s.opts) }

// However many files a plugin has, what is remembered of it has two entries, which each command
// reads once; and a change of any file is seen all the same.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := installed(t, s, "big", "1.0.0", 300)
	other := installed(t, s, "other", "1.0.0", 5)
	for range 2 {
		s = again(s)
		if err := errors.Join(verify(s, e), verify(s, other)); err != nil {
			t.Fatal(err)
		}
	}
	if known := readPins(s.opts.Dir); len(known) != 4 {
		t.Errorf("%d entries are remembered, want 2 of each plugin: %v", len(known), known)
	}
	// A file that was read once is not read again: without the file nothing is hashed anew.
	s = again(s)
	if err := verify(s, e); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(s.opts.Dir, pinFile)
	if err := os.Remove(cache); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(verify(s, e), verify(s, other)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unchanged plugin was hashed again: %v", err)
	}

	part := e.Installed.Path(e.Installed.Files[250])
	info, err := os.Stat(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(part, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := verify(again(s), e); err != nil {
		t.Errorf("a file that was touched: %v", err)
	}
	text := []byte(e.Installed.Files[250].Path)
	slices.Reverse(text) // of the same size
	if err := os.WriteFile(part, text, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(part, time.Now(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	if err := verify(again(s), e); !errors.As(err, &changed) || changed.Path != part {
		t.Errorf("a file that was changed, with its time set back: %v", err)
	}
	if err := errors.Join(os.Remove(part), os.Symlink("f1.js", part)); err != nil {
		t.Fatal(err)
	}
	if err := verify(again(s), e); err == nil {
		t.Error("a link in place of a file was taken")
	}
}

// The entries of removed versions go.
func TestForgetRemoved(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	stays, goes := installed(t, s, "x", "1.0.0", 3), installed(t, s, "x", "2.0.0", 3)
	if err := errors.Join(verify(s, stays), verify(s, goes)); err != nil {
		t.Fatal(err)
	}
	old := readPins(s.opts.Dir)
	old[filepath.Join(s.opts.Dir, "gone")] = pinned{SHA256: "00"}
	by := filepath.Join(s.opts.Dir, catalog.Folder, "swarm-plugin-hand")
	if err := os.WriteFile(by, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	old[by] = pinned{SHA256: "11"}
	if err := writePins(s.opts.Dir, old); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(goes.Installed.Dir); err != nil {
		t.Fatal(err)
	}
	want := []string{stays.Installed.Dir, stays.Path(), by}
	for name, forget := range map[string]func() error{
		"a command":     func() error { return verify(again(s), stays) },
		"plugin remove": func() error { return ForgetRemoved(s.opts.Dir) },
	} {
		if err := writePins(s.opts.Dir, old); err != nil {
			t.Fatal(err)
		}
		if err := forget(); err != nil {
			t.Fatal(err)
		}
		known := readPins(s.opts.Dir)
		for path := range known {
			if !slices.Contains(want, path) {
				t.Errorf("%s: %s is still remembered", name, path)
			}
		}
		if len(known) != len(want) {
			t.Errorf("%s: %d entries are left, want %d", name, len(known), len(want))
		}
	}
}
