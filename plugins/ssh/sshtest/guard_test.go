//go:build ssh

package sshtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestGuard ends a process that a failed test has left, and removes the directory.
func TestGuard(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := guardOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := exec.CommandContext(t.Context(), "sleep", "3600")
	left.Env = []string{"HOME=" + filepath.Join(dir, "home")}
	other := exec.CommandContext(t.Context(), "sleep", "3600")
	other.Env = []string{"HOME=" + dir + "-2/home"}
	for _, cmd := range []*exec.Cmd{left, other} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.end(); err != nil {
		t.Error(err)
	}
	if err := left.Wait(); err == nil || left.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the process ended with %v", err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process was ended: %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait() // it was killed
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is there: %v", err)
	}
}
