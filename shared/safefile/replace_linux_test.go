package safefile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestReplaceIsDurable: a file is renamed only once its content is on the disk. A
// process whose fsync fails can't make one.
func TestReplaceIsDurable(t *testing.T) {
	const env = "SAFEFILE_TEST_NO_FSYNC"
	if dir := os.Getenv(env); dir != "" {
		refuseSync(t)
		path := filepath.Join(dir, "file")
		if err := Replace(path, []byte("x"), 0o600); !errors.Is(err, unix.EIO) {
			t.Errorf("error %v, want %v", err, unix.EIO)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is there: %v", err)
		}
		return
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestReplaceIsDurable$")
	cmd.Env = append(os.Environ(), env+"="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// refuseSync makes fsync fail in this process.
func refuseSync(t *testing.T) {
	t.Helper()
	fail := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 2},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		fail,
	}
	runtime.LockOSThread() // both calls are the same thread's
	defer runtime.UnlockOSThread()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Fatal("seccomp:", errno)
	}
}
