package control

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls for clients do not block, so none of them needs a thread of its own, see
// [github.com/swarmhost/swarm/shared/shim/server/nowait].

func socket() (int, error) {
	return unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
}

func accept(fd int) (int, error) {
	client, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(client), nil
}

func sameUser(fd int) bool {
	var peer unix.Ucred
	size := uint32(unsafe.Sizeof(peer))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERCRED,
		uintptr(unsafe.Pointer(&peer)), uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0 && int(peer.Uid) == os.Geteuid()
}

// send sends what fits into the buffer of a socket.
func send(fd int, b []byte) {
	_, _, _ = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
}

// hungUp reports whether the other side has closed a connection.
func hungUp(fd int) bool {
	p := unix.PollFd{Fd: int32(fd)}
	var now unix.Timespec
	_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return p.Revents&unix.POLLHUP != 0
}

// hangUp ends a connection; its descriptor stays open.
func hangUp(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_SHUTDOWN, uintptr(fd), unix.SHUT_RDWR, 0) }
