package tmux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// TestSpawnCutOff ends the context of a start when tmux has opened the window, the
// worker runs, and tmux says nothing any more: nothing is left of it.
func TestSpawnCutOff(t *testing.T) {
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	// This tmux carries out its commands, and answers neither a start nor a look.
	bin := t.TempDir()
	script := `#!/bin/sh
case "$*" in
*new-window*|*new-session*) "` + real + `" "$@" >/dev/null || exit; exec sleep 999 ;;
*list-panes*) exec sleep 999 ;;
esac
exec "` + real + `" "$@"
`
	if err := buildtest.Write(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w := f.newWorker("w", "sh", "-c", stubborn)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := w.backend.Spawn(ctx, w.spec)
		failed <- err
	}()
	eventually(t, "the worker runs", func() bool { return len(w.carriers()) > 0 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := w.carriers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	eventually(t, "the window is gone", func() bool { return len(f.windows()) == 0 })
}
