package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestKillOfAnotherUser kills a worker of another user. The kill is refused at once, even
// if the shim's socket can be connected to: it answers no other user.
func TestKillOfAnotherUser(t *testing.T) {
	t.Parallel()
	machinetest.Root(t)
	w := start(t, "sleep", "999")
	for name, mode := range map[string]os.FileMode{rundir.Socket: 0o666, rundir.StatusFile: 0o644, ".": 0o755, "..": 0o755} {
		if err := os.Chmod(filepath.Join(w.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	refused := make(chan error)
	go func() {
		// The thread ends with this goroutine, and the other user with it.
		runtime.LockOSThread()
		const stranger = 65534
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, stranger, stranger, stranger); errno != 0 {
			refused <- errno
			return
		}
		_, err := client.Kill(t.Context(), w.dir, w.id, gently)
		refused <- err
	}()
	if err := <-refused; !errors.Is(err, swarm.ErrPermission) {
		t.Errorf("error %v", err)
	}
	if s := w.status(); s.State != swarm.StateRunning {
		t.Errorf("status %+v", s)
	}
}
