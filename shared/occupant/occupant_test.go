package occupant

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestIn: a process counts in its working directory and in each one above, and nowhere else.
func TestIn(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "dir")
	for _, name := range []string{"dir/sub", "dir-other"} {
		if err := os.MkdirAll(filepath.Join(top, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "3600")
	cmd.Dir = filepath.Join(dir, "sub")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	for at, want := range map[string]int{dir: 1, cmd.Dir: 1, dir + "-other": 0} {
		found, err := In(t.Context(), at)
		if err != nil || len(found) != want {
			t.Errorf("In(%s): %+v, %v; want %d processes", at, found, err, want)
		}
		if want > 0 && len(found) > 0 && found[0].PID != cmd.Process.Pid {
			t.Errorf("In(%s): %+v, want process %d", at, found, cmd.Process.Pid)
		}
	}
}
