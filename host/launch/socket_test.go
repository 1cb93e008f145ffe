package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// shortDir is a directory whose path leaves space for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") //nolint:usetesting // that of t is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSocketDirSquatted: another process has the name that all hosts use, and the
// state directory is too deep. Each host has a directory of its own then.
func TestSocketDirSquatted(t *testing.T) {
	t.Parallel()
	own := fmt.Sprintf("swarm-%d", os.Getuid())
	for _, tt := range []struct {
		name  string
		root  bool
		squat func(path string) error
	}{
		{name: "a file", squat: func(path string) error { return os.WriteFile(path, nil, 0o600) }},
		{name: "a link", squat: func(path string) error { return os.Symlink("/", path) }},
		{name: "another user's", root: true, squat: func(path string) error {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chown(path, 4242, 4242)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			tmp := shortDir(t)
			if err := tt.squat(filepath.Join(tmp, own)); err != nil {
				t.Fatal(err)
			}
			deep := filepath.Join(tmp, strings.Repeat("d", 80))
			first, err := firstSocketDir([]string{tmp}, deep)
			if err != nil {
				t.Fatal(err)
			}
			second, err := firstSocketDir([]string{tmp}, deep)
			if err != nil {
				t.Fatal(err)
			}
			if first.path == second.path {
				t.Errorf("two hosts share %s", first.path)
			}
			info, err := os.Stat(first.path)
			if err != nil || info.Mode().Perm() != 0o700 || len(first.path)+below > longest {
				t.Errorf("%s: %v, %v", first.path, info, err)
			}
			first.close()
			second.close()
			if left, _ := filepath.Glob(filepath.Join(tmp, own+"-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestSocketDirSquattedSweep: what hosts that were killed left behind goes, unless
// another host holds it.
func TestSocketDirSquattedSweep(t *testing.T) {
	t.Parallel()
	tmp := shortDir(t)
	own := fmt.Sprintf("swarm-%d", os.Getuid())
	if err := os.WriteFile(filepath.Join(tmp, own), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := ownSocketDir(tmp, own)
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	abandoned := filepath.Join(tmp, own+"-1")
	plugin := filepath.Join(abandoned, ownPrefix+"1")
	if err := os.MkdirAll(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{plugin, abandoned, held.path} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	d, err := firstSocketDir([]string{tmp}, filepath.Join(tmp, strings.Repeat("d", 80)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if _, err := os.Lstat(abandoned); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", abandoned, err)
	}
	if _, err := os.Lstat(held.path); err != nil {
		t.Error(err)
	}
}

// TestSocketDirInUntrustedParent: a user who can rename the directory can put another
// one in its place.
func TestSocketDirInUntrustedParent(t *testing.T) {
	t.Parallel()
	tmp, state := shortDir(t), shortDir(t)
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := firstSocketDir([]string{tmp}, state)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(state, "run"); d.path != want {
		t.Errorf("%s, want %s", d.path, want)
	}
}
