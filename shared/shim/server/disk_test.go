//go:build linux

package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The space for the last status is taken when the worker starts.
func TestSpaceForTheEnd(t *testing.T) {
	t.Parallel()
	s := start(t, launch("exec sleep 999"), options{})
	fi, err := os.Stat(filepath.Join(s.dir, rundir.StatusFile+".end"))
	must(t, err)
	if got := fi.Sys().(*syscall.Stat_t).Blocks * 512; got < 4096 {
		t.Errorf("%d bytes are reserved", got)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}

// On a full disk the end is recorded all the same. The disk is a small one in a
// namespace of its own, where the test program plays the part of the disk's
// other user.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], shimPath, dir)
	cmd.Env = append(os.Environ(), envHelper+"=disk-full")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EINVAL) {
		// Some systems allow no namespaces. TestSpaceForTheEnd holds there too.
		t.Logf("no disk to fill here: %v", err)
		return
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := string(out)
	if !strings.Contains(got, `"state":"ended"`) || !strings.Contains(got, `"code":3`) || strings.Contains(got, `"dropped_bytes":0`) {
		t.Errorf("status %s", got)
	}
}

// diskFull runs a worker that fills its own disk, and prints the last status.
func diskFull(shim, dir string) error {
	if err := unix.Mount("swarm", dir, "tmpfs", 0, "size=256k"); err != nil {
		return err
	}
	l := launch(`echo begun; until [ -e status.json -a -s transcript ]; do sleep 0.01; done; cat /dev/zero > filler 2>/dev/null; head -c 200000 /dev/zero; i=0; while [ $((i=i+1)) -le 10000 ]; do echo "line $i"; done; exit 3`)
	l.ID, l.Dir, l.Transcript = "w1", dir, true
	l.Env = []string{"PATH=" + os.Getenv("PATH")}
	b, err := rundir.EncodeLaunch(l)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, rundir.LaunchFile), b, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(shim, dir)
	cmd.Env = []string{"SWARM_SHIM=w1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		return err
	}
	// Where there is space for a mark only, there is not one for each piece of output.
	b, err = os.ReadFile(filepath.Join(dir, swarm.TranscriptFile))
	if err != nil || bytes.Contains(b, []byte("written]\n"+swarm.TranscriptMark)) {
		return fmt.Errorf("transcript %q, error %w", b, err)
	}
	b, err = os.ReadFile(filepath.Join(dir, rundir.StatusFile))
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	return err
}
