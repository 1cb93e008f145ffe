package box

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// A directory that the worker has replaced by a link since the sandbox was planned is not
// mounted.
func TestReplacedSource(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	wrap := []string{"bwrap", "--ro-bind", "/", "/", rundir.WrapHide, filepath.Join(top, "none"), "--bind", dir, dir}
	got, err := wrapArgs(wrap)
	if want := []string{"bwrap", "--ro-bind", "/", "/", "--bind", dir, dir}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q, %v", got, err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", dir); err != nil {
		t.Fatal(err)
	}
	if got, err := wrapArgs(wrap); err == nil || !strings.HasPrefix(err.Error(), rundir.NoSandbox) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestListening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("unix", dir+"/a socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	name, _ := filepath.EvalSymlinks(dir + "/a socket")
	if got := listeners("/proc/net/unix"); !slices.Contains(got, name) {
		t.Errorf("%s is not in %q", name, got)
	}
	list := filepath.Join(dir, "list")
	text := fmt.Sprintf("Num       RefCount Protocol Flags    Type St Inode Path\n0: 2 0 00000000 1 01 7 %[1]s/a socket\n0: 2 0 00010000 1 01 8 @abstract\n0: 2 0 00010000 1 01 9\n0: 2 0 00010000 1 01 9 %[1]s\n", dir)
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := listeners(list); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// TestSocketsOfThisStart checks that a socket is hidden at each start at which a program listens
// on it, but not where the worker can write or sees another directory.
func TestSocketsOfThisStart(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"shown", "own", "empty"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, empty := filepath.Join(top, "own"), filepath.Join(top, "empty")
	wrap := []string{"bwrap", "--ro-bind", "/", "/", "--tmpfs", empty, rundir.WrapHideSockets, "--bind", own, own}
	hidden := func() string {
		args, err := wrapArgs(wrap)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(args, " ")
	}
	if got := hidden(); strings.Contains(got, top+"/shown") {
		t.Error(got)
	}
	for _, dir := range []string{"shown", "own", "empty"} {
		l, err := net.Listen("unix", filepath.Join(top, dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	got := hidden()
	if !strings.Contains(got, " --ro-bind /dev/null "+top+"/shown/s") || strings.Contains(got, own+"/s") || strings.Contains(got, empty+"/s") {
		t.Error(got)
	}
}

// TestKeptFileIsGone checks that a file which is only tried is left out when it is gone, or has
// become a link.
func TestKeptFileIsGone(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(top, "gitconfig")
	wrap := []string{"bwrap", "--ro-bind-try", file, "/home/u/.gitconfig", "--chdir", "/"}
	want := func(want ...string) {
		t.Helper()
		if got, err := wrapArgs(wrap); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v", got, err)
		}
	}
	want("bwrap", "--chdir", "/")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(wrap...)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", file); err != nil {
		t.Fatal(err)
	}
	want("bwrap", "--chdir", "/")
}
