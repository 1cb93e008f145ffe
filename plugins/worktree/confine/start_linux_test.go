package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/worktree/confine"
	"github.com/swarmhost/swarm/shared/machinetest"
)

func TestStart(t *testing.T) {
	t.Parallel()
	machinetest.Landlock(t)
	top := t.TempDir()
	for _, dir := range []string{"in/old", "empty/old", "empty/full", "out/old"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(top+"/empty/full/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	where := []confine.Dir{{Path: top + "/in"}, {Path: top + "/empty", EmptyDirs: true}, {Path: top + "/absent"}}
	for _, c := range []struct {
		script string
		ok     bool
	}{
		{"echo x > in/file && mv in/file in/old/ && rm -r in/old/file", true},
		{"ln -s ../out in/link && ls in/link", true},
		{"echo x > in/link/file", false},
		{"rmdir in/link/old", false},
		{"echo x > out/file", false},
		{"mkdir absent", false},
		{"rmdir empty/old", true},
		{"rm empty/full/file", false},
		{"mkdir empty/new", false},
		{"cat empty/full/file > /dev/null", true},
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.script)
		cmd.Dir = top
		err := confine.Start(cmd, where)
		if err == nil {
			err = cmd.Wait()
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.script, err)
		}
	}
	// This process itself is not confined.
	if err := os.WriteFile(top+"/out/file", nil, 0o600); err != nil {
		t.Error(err)
	}
	if out, err := exec.CommandContext(t.Context(), "rm", top+"/out/file").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
