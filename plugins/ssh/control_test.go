package ssh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// State directories with long paths share one directory of the user, and no socket. (No
// parallel test: it sets TMPDIR.)
func TestControlOfLongPaths(t *testing.T) {
	tmp, err := os.MkdirTemp("", "c") //nolint:usetesting // its path would be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	long := filepath.Join(tmp, strings.Repeat("x", maxSocket))
	socket := strings.Repeat("0", socketName)
	var paths []string
	for _, name := range []string{"a", "b"} {
		c := controlOf([]string{swarm.EnvDir + "=" + filepath.Join(long, name)})
		if _, err := os.Lstat(c.dir); len(paths) == 0 && err == nil || !c.ready() {
			t.Errorf("%+v is made at once, or can't be used", c)
		}
		path := c.socket(socket)
		if len(path)+len(socketSuffix) > maxSocket {
			t.Errorf("%s is too long for a socket", path)
		}
		paths = append(paths, path)
	}
	if paths[0] == paths[1] || filepath.Dir(paths[0]) != filepath.Dir(paths[1]) {
		t.Errorf("the sockets are %v", paths)
	}
	if made, err := os.ReadDir(tmp); err != nil || len(made) != 1 {
		t.Errorf("%d directories were made, error %v", len(made), err)
	}
	if err := os.Chmod(filepath.Dir(paths[0]), 0o777); err != nil { //nolint:gosec // that is the case
		t.Fatal(err)
	}
	if c := controlOf([]string{swarm.EnvDir + "=" + long}); c.ready() {
		t.Errorf("a directory that others can write is used: %+v", c)
	}
}
