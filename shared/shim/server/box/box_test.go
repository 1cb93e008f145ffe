package box

import (
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
