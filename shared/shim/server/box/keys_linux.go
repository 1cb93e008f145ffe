package box

import (
	"errors"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel keeps keys for its users: in the keyring of the session, which programs inherit, and
// in that of the user, which every process of the user finds. No file leads there that a sandbox
// could hide. So a worker gets a session keyring of its own, and the calls on keys are refused to
// it: a key of the user's could be used by its number all the same.

// callsOnKeys are the numbers of add_key, request_key and keyctl, by the kernel's name of an
// architecture. A program may use the calls of a second one.
type callsOnKeys struct {
	arch  uint32
	calls [3]uint32
}

var keyCalls = map[string][]callsOnKeys{
	"amd64": {
		{unix.AUDIT_ARCH_X86_64, [3]uint32{248, 249, 250}},
		{unix.AUDIT_ARCH_I386, [3]uint32{286, 287, 288}},
	},
	"arm64": {
		{unix.AUDIT_ARCH_AARCH64, [3]uint32{217, 218, 219}},
		{unix.AUDIT_ARCH_ARM, [3]uint32{309, 310, 311}},
	},
}

// leaveKeys takes the keys of the user from this thread and what it forks.
func leaveKeys() error {
	filter := keyFilter(runtime.GOARCH)
	// A container may refuse the call, and has refused all others on keys then. A user may have
	// only so many keyrings: the filter works without a new one.
	_, _, errno := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0)
	if errno != 0 && errno != unix.ENOSYS && errno != unix.EPERM && filter == nil {
		return errno
	}
	if filter == nil {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return nil // a kernel without filters
	}
	return err
}

// hideKeys returns the options that hide the lists of keys.
func hideKeys() []string {
	var options []string
	for _, list := range []string{"/proc/keys", "/proc/key-users"} {
		if _, err := os.Lstat(list); err == nil {
			options = append(options, "--ro-bind", os.DevNull, list)
		}
	}
	return options
}

const (
	offsetCall = 0 // of seccomp_data, see seccomp(2)
	offsetArch = 4
	// x32Bit marks the calls of a third architecture on amd64, which have the same numbers.
	x32Bit = 0x40000000
)

// keyFilter returns the program that refuses the calls on keys; nil where their numbers are
// unknown.
func keyFilter(goarch string) []unix.SockFilter {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
	)
	var filter []unix.SockFilter
	for _, a := range keyCalls[goarch] {
		filter = append(filter,
			unix.SockFilter{Code: load, K: offsetArch},
			unix.SockFilter{Code: equal, K: a.arch, Jf: 7},
			unix.SockFilter{Code: load, K: offsetCall},
			unix.SockFilter{Code: and, K: ^uint32(x32Bit)},
			unix.SockFilter{Code: equal, K: a.calls[0], Jt: 2},
			unix.SockFilter{Code: equal, K: a.calls[1], Jt: 1},
			unix.SockFilter{Code: equal, K: a.calls[2], Jf: 1},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		)
	}
	if filter != nil {
		filter = append(filter, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	}
	return filter
}
