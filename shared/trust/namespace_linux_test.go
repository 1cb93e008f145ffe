package trust

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/machinetest"
)

// TestPathInUserNamespace runs the rule where root's files seem to belong to user 65534:
// the user's own files must still be trusted there.
func TestPathInUserNamespace(t *testing.T) {
	if path := os.Getenv("TRUST_TEST_PATH"); path != "" {
		if err := Path(path); err != nil {
			t.Fatal(err)
		}
		if err := Path(os.Getenv("TRUST_TEST_STRANGER")); err == nil {
			t.Fatal("a stranger's file in a sticky directory was trusted")
		}
		return
	}
	machinetest.Root(t)
	machinetest.UserNamespaces(t)
	dir := place(t, func(dir string) error {
		return errors.Join(mkdir(dir+"/d", 0o700), write(dir+"/d/f", 0o600), os.Chown(dir+"/d/f", 1, 1), os.Chown(dir+"/d", 1, 1),
			mkdir(dir+"/tmp", 0o777|fs.ModeSticky), write(dir+"/tmp/f", 0o644), os.Chown(dir+"/tmp/f", stranger, stranger))
	})
	// The directories that the test made above belong to the user too.
	for up := dir; up != filepath.Clean(os.TempDir()) && up != "/"; up = filepath.Dir(up) {
		if err := errors.Join(os.Chmod(up, 0o755), os.Chown(up, 1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "trust.test")
	if b, err := os.ReadFile(self); err != nil || buildtest.Write(program, b, 0o755) != nil {
		t.Fatal("the test program can't be copied:", err)
	}
	cmd := exec.Command(program, "-test.run=^TestPathInUserNamespace$")
	cmd.Env = append(os.Environ(), "TRUST_TEST_PATH="+dir+"/d/f", "TRUST_TEST_STRANGER="+dir+"/tmp/f")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1, HostID: 1, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1, HostID: 1, Size: 1}},
		Credential:  &syscall.Credential{Uid: 1, Gid: 1, NoSetGroups: true},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
