package box

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tryKeys is the argument with which the test binary looks for a key, as a worker could.
const tryKeys = "try-keys"

// tryKey says which ways lead to a key, which has this number and this description.
func tryKey(number, description string) {
	for name, ring := range map[string]int{
		"session": unix.KEY_SPEC_SESSION_KEYRING, "user": unix.KEY_SPEC_USER_KEYRING, "user session": unix.KEY_SPEC_USER_SESSION_KEYRING,
	} {
		if _, err := unix.KeyctlSearch(ring, "user", description, 0); err == nil {
			fmt.Println("found in the keyring of the " + name)
		}
	}
	buf := make([]byte, 100)
	id, _ := strconv.Atoi(number)
	if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, buf, 0); err == nil {
		fmt.Printf("read: %s\n", buf[:n])
	}
	if _, err := unix.RequestKey("user", description, "", 0); err == nil {
		fmt.Println("requested")
	}
	if _, err := unix.AddKey("user", description, []byte("mine"), unix.KEY_SPEC_USER_KEYRING); err == nil {
		fmt.Println("replaced")
	}
	if list, err := os.ReadFile("/proc/keys"); err == nil && strings.Contains(string(list), description) {
		fmt.Println("listed")
	}
	fmt.Println("done")
	os.Exit(0)
}

// TestKeys puts a key into the keyring of the session and one into that of the user.
func TestKeys(t *testing.T) {
	t.Parallel()
	// The keyring of the session is that of a thread, which is not used for anything else.
	runtime.LockOSThread()
	if _, _, errno := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); errno != 0 {
		t.Skip("this machine has no keyrings: ", errno)
	}
	// As a login does, so that the thread possesses the user's keys.
	_, _ = unix.KeyctlInt(unix.KEYCTL_LINK, unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_SESSION_KEYRING, 0, 0)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, ring := range map[string]int{"session": unix.KEY_SPEC_SESSION_KEYRING, "user": unix.KEY_SPEC_USER_KEYRING} {
		description := fmt.Sprintf("swarm-test-%s-%d", name, os.Getpid())
		id, err := unix.AddKey("user", description, []byte("secret"), ring)
		if err != nil {
			t.Skip("this machine has no keyrings: ", err)
		}
		defer func() { _, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, id, 0, 0, 0) }()
		if err := unix.KeyctlSetperm(id, 0x3f3f0000); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, buf, 0); err != nil || string(buf[:n]) != "secret" {
			t.Fatalf("outside of a sandbox: %q, %v", buf[:max(n, 0)], err)
		}
		script := fmt.Sprintf("exec %s %s %d %s", self, tryKeys, id, description)
		if got := sandboxed(t, script, nil, func() {}); got != "done" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestKeyFilter runs the filter by hand.
func TestKeyFilter(t *testing.T) {
	t.Parallel()
	if keyFilter("riscv64") != nil {
		t.Error("there is a filter for an architecture whose calls are unknown")
	}
	for _, c := range []struct {
		goarch     string
		arch, call uint32
		refused    bool
	}{
		{"amd64", unix.AUDIT_ARCH_X86_64, 248, true},
		{"amd64", unix.AUDIT_ARCH_X86_64, 249, true},
		{"amd64", unix.AUDIT_ARCH_X86_64, 250, true},
		{"amd64", unix.AUDIT_ARCH_X86_64, 250 | x32Bit, true},
		{"amd64", unix.AUDIT_ARCH_X86_64, 247, false},
		{"amd64", unix.AUDIT_ARCH_X86_64, 251, false},
		{"amd64", unix.AUDIT_ARCH_X86_64, 288, false},
		{"amd64", unix.AUDIT_ARCH_I386, 288, true},
		{"amd64", unix.AUDIT_ARCH_I386, 286, true},
		{"amd64", unix.AUDIT_ARCH_I386, 250, false},
		{"arm64", unix.AUDIT_ARCH_AARCH64, 219, true},
		{"arm64", unix.AUDIT_ARCH_AARCH64, 220, false},
		{"arm64", unix.AUDIT_ARCH_ARM, 311, true},
		{"arm64", unix.AUDIT_ARCH_X86_64, 250, false},
	} {
		if got := refuses(t, keyFilter(c.goarch), c.arch, c.call); got != c.refused {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// refuses interprets a filter.
func refuses(t *testing.T, filter []unix.SockFilter, arch, call uint32) bool {
	t.Helper()
	var acc uint32
	for at := 0; at < len(filter); at++ {
		f := filter[at]
		switch f.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = map[uint32]uint32{offsetCall: call, offsetArch: arch}[f.K]
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= f.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if acc == f.K {
				at += int(f.Jt)
			} else {
				at += int(f.Jf)
			}
		case unix.BPF_RET | unix.BPF_K:
			return f.K != unix.SECCOMP_RET_ALLOW
		default:
			t.Fatal(errors.New("unknown instruction"), slices.Index(filter, f))
		}
	}
	t.Fatal("the filter has no end")
	return false
}
