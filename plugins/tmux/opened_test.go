package tmux_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// TestStatusOfNewWorker proves that the first status of a worker takes no call of tmux,
// which has just said where the window is, and that a later one does.
func TestStatusOfNewWorker(t *testing.T) {
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	script := `#!/bin/sh
case "$*" in *list-panes*) echo >>"` + asked + `" ;; esac
exec "` + real + `" "$@"
`
	if err := buildtest.Write(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	// The first status is asked for by the fixture.
	w := f.spawn("w", "sleep", "1000")
	if _, err := os.Stat(asked); err == nil {
		t.Error("tmux was asked where a window is that it had just opened")
	}
	if f.mustTmux("rename-window", "-t", w.parts().Window, "other"); !strings.HasSuffix(w.status().Where.Name, ":other") {
		t.Errorf("the renamed window is %q", w.status().Where.Name)
	}
	if _, err := os.Stat(asked); err != nil {
		t.Errorf("tmux was not asked later: %v", err)
	}
}
