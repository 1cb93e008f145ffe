package input_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// senderOf returns a sender, and the directory of a worker "w".
func senderOf(t *testing.T) (*hosttest.Rig, *input.Sender, string) {
	t.Helper()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapCopy)
	dir := t.TempDir()
	r.MustSpawn(t, "w", "one", func(req *spawn.Request) { req.Dir = dir })
	s := r.Input()
	s.Env = os.Environ()
	return r, s, dir
}

func put(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(filepath.Base(name)), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func has(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	_ = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			got = append(got, name)
		}
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCopyPlaces: the rules for names are those of docker cp.
func TestCopyPlaces(t *testing.T) {
	t.Parallel()
	_, s, dir := senderOf(t)
	put(t, dir, "d/a", "d/sub/b", "f")
	for _, c := range []struct {
		from, to string
		want     []string // nil: an error
	}{
		{"f", "", []string{"f", "there/x"}},
		{"f", "new", []string{"new", "there/x"}},
		{"f", "there", []string{"there/f", "there/x"}},
		{"f", "there/x", []string{"there/x"}},
		{"f", "new/", nil},
		{"f", "there/x/", nil},
		{"f", "none/new", nil},
		{"d", "there", []string{"there/d/a", "there/d/sub/b", "there/x"}},
		{"d/.", "there", []string{"there/a", "there/sub/b", "there/x"}},
		{"d", "new", []string{"new/a", "new/sub/b", "there/x"}},
		{"d/.", "new/", []string{"new/a", "new/sub/b", "there/x"}},
		{"d", "there/x", nil},
		{"none", "new", nil},
		// Without the missing part these are directories that exist.
		{"f", "new/.", nil},
		{"d", "new/.", nil},
		{"d/.", "new/./", nil},
		{"d/.", "new/..", nil},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			here := t.TempDir()
			put(t, here, "there/x")
			_, err := s.CopyOut(t.Context(), "w", c.from, here+"/"+c.to)
			if (err == nil) != (c.want != nil) {
				t.Fatal(err)
			}
			if c.want != nil {
				has(t, here, c.want...)
			} else {
				has(t, here, "there/x")
			}
			// The same the other way round.
			far := t.TempDir()
			put(t, far, "there/x")
			r, err := s.CopyIn(t.Context(), "w", dir+"/"+c.from, far+"/"+c.to)
			if (err == nil) != (c.want != nil) {
				t.Fatalf("%+v, %v", r, err)
			}
			if c.want != nil {
				has(t, far, c.want...)
			} else {
				has(t, far, "there/x")
			}
		})
	}
}

// TestCopyWithoutAPath: an empty text, such as that of a variable that is not set, is not the working directory.
func TestCopyWithoutAPath(t *testing.T) {
	_, s, dir := senderOf(t)
	put(t, dir, "d/a")
	here, far := t.TempDir(), t.TempDir()
	put(t, here, "x")
	t.Chdir(here)
	if _, err := s.CopyOut(t.Context(), "w", "d", ""); err == nil {
		t.Error("copied to an empty path")
	}
	has(t, here, "x")
	if _, err := s.CopyIn(t.Context(), "w", "", far); err == nil {
		t.Error("copied an empty path")
	}
	has(t, far)
}

func TestCopyStreams(t *testing.T) {
	t.Parallel()
	r, s, dir := senderOf(t)
	put(t, dir, "d/a")
	var stream bytes.Buffer
	if _, err := s.StreamOut(t.Context(), "w", "d", &stream); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "to"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.StreamIn(t.Context(), "w", "to", bytes.NewReader(stream.Bytes())); err != nil {
		t.Fatal(err)
	}
	has(t, dir, "d/a", "to/d/a")
	if got := r.One.CopyOptions; got.Path != "to" || !got.Into || got.Dir != dir || got.Confined {
		t.Errorf("the backend got %+v", got)
	}
	if _, err := tar.NewReader(&stream).Next(); err != nil {
		t.Error(err)
	}
	if _, err := s.StreamIn(t.Context(), "w", "none", bytes.NewReader(nil)); err == nil {
		t.Error("a directory that does not exist was copied to")
	}
}

func TestCopyNotPossible(t *testing.T) {
	t.Parallel()
	r, s, _ := senderOf(t)
	r.MustSpawn(t, "far", "two")
	for name, want := range map[string]error{"far": swarm.ErrUnsupported, "ghost": store.ErrNotFound} {
		if _, err := s.StreamOut(t.Context(), name, ".", io.Discard); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	if _, err := s.StreamOut(t.Context(), "ended", ".", io.Discard); errors.Is(err, worker.ErrEnded) {
		t.Errorf("files of an ended worker: %v", err)
	}
}
