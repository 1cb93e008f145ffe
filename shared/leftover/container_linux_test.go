package leftover_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/leftover"
	"github.com/swarmhost/swarm/shared/machinetest"
)

// container moves its root onto an overlay in a directory that it reads, as engines do, so that
// nothing but that root names the directory.
const container = `read -r dir && cd "$dir" && mkdir low up work root && mkdir low/old &&
mount -t overlay overlay -o "lowerdir=$dir/low,upperdir=$dir/up,workdir=$dir/work" root &&
cd root && pivot_root . old && cd / && echo inside && read -r more`

// TestContainer ends a process whose root is in the directory, and leaves the ones in its
// neighbours.
func TestContainer(t *testing.T) {
	t.Parallel()
	machinetest.UserNamespaces(t)
	begin := func(dir string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", container)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(in, dir); err != nil {
			t.Fatal(err)
		}
		if said := bufio.NewScanner(out); !said.Scan() {
			t.Fatal("it has no root of its own")
		}
		return cmd
	}
	root := t.TempDir()
	dir := filepath.Join(root, "engine")
	it, other := begin(dir), begin(dir+"2")
	if err := leftover.End(dir); err != nil {
		t.Error(err)
	}
	if err := it.Wait(); err == nil || it.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("its end: %v", err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the neighbour: %v", err)
	}
	if err := other.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = other.Wait() // it was killed
}
