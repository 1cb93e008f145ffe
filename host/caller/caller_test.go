package caller

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// claim starts a process that works in a run directory and writes there that it
// is its shim.
func claim(t *testing.T, dir string, as *syscall.Credential) int {
	t.Helper()
	pid := live(t, dir, as)
	writeStatus(t, dir, pid)
	return pid
}

// live starts a process that works in a directory.
func live(t *testing.T, dir string, as *syscall.Credential) (pid int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// writeStatus writes that a process is the shim of a run directory.
func writeStatus(t *testing.T, dir string, pid int) {
	t.Helper()
	id, err := proc.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(rundir.Status{Shim: id, State: rundir.StateRunning})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, rundir.StatusFile), b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A worker can call before its shim has written its status. The shim has the run
// directory locked until then, so the call waits.
func TestRunDirOfStartingShim(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, rundir.WorkerFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := live(t, dir, nil)
	starting, err := safefile.LockDir(dir, safefile.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() { found <- RunDirAbove(pid) }()
	select {
	case got := <-found:
		t.Errorf("found %q without waiting for the shim", got)
	case <-time.After(100 * time.Millisecond):
		writeStatus(t, dir, pid)
		if err := starting.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-found; got != dir {
			t.Errorf("found %q, want %q", got, dir)
		}
	}
}

// TestCallerRunDir: only a shim of this user, in a directory of this user, says
// where the caller lives.
func TestCallerRunDir(t *testing.T) {
	t.Parallel()
	const stranger = 4242
	for _, tt := range []struct {
		name string
		root bool
		make func(t *testing.T, dir string) *syscall.Credential
		want bool
	}{
		{name: "own", want: true, make: func(*testing.T, string) *syscall.Credential { return nil }},
		{name: "a directory that others can write", make: func(t *testing.T, dir string) *syscall.Credential {
			if err := os.Chmod(filepath.Dir(dir), 0o777); err != nil {
				t.Fatal(err)
			}
			return nil
		}},
		{name: "a process of another user", root: true, make: func(*testing.T, string) *syscall.Credential {
			return &syscall.Credential{Uid: stranger, Gid: stranger}
		}},
		{name: "a directory of another user", root: true, make: func(t *testing.T, dir string) *syscall.Credential {
			if err := os.Chown(dir, stranger, stranger); err != nil {
				t.Fatal(err)
			}
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.root {
				machinetest.Root(t)
			}
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(base, "workers", "w")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			// The process of a stranger has to get there.
			for up := dir; up != filepath.Clean(os.TempDir()) && up != "/"; up = filepath.Dir(up) {
				if err := os.Chmod(up, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			pid := claim(t, dir, tt.make(t, dir))
			want := ""
			if tt.want {
				want = dir
			}
			if got := RunDirAbove(pid); got != want {
				t.Errorf("callerRunDir() = %q, want %q", got, want)
			}
		})
	}
}
