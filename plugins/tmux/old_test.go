package tmux_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestOldServer has a server that says it is of an old version. It sets PATH, so it
// can't be parallel.
func TestOldServer(t *testing.T) {
	f := newFixture(t)
	real, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nout=$(" + real + ` "$@")
code=$?
echo "$out" | sed 's/^[^:]*:\([0-9]*:[0-9]*:@\)/2.9a:\1/'
exit $code
`
	if err := buildtest.Write(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	w := f.newWorker("w", "sh", "-c", stubborn)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	err = w.start()
	if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "tmux 2.9a is too old") {
		t.Errorf("error %v", err)
	}
	eventually(t, "nothing is left", func() bool { return len(w.carriers()) == 0 && len(f.windows()) == 0 })
}
