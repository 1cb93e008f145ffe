package control

import (
	"os"

	"golang.org/x/sys/unix"
)

func socket() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	return own(fd)
}

func accept(fd int) (int, error) {
	fd, _, err := unix.Accept(fd)
	if err != nil {
		return -1, err
	}
	return own(fd)
}

func sameUser(fd int) bool {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	return err == nil && int(peer.Uid) == os.Geteuid()
}

// send sends what fits into the buffer of a socket.
func send(fd int, b []byte) { _, _ = unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT) }

// hungUp reports whether the other side has closed a connection.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd)}}
	_, _ = unix.Poll(p, 0)
	return p[0].Revents&unix.POLLHUP != 0
}

// hangUp ends a connection; its descriptor stays open.
func hangUp(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }

// own makes a new descriptor the shim's alone. The worker has been started, or
// will be by this goroutine, so no fork comes between.
func own(fd int) (int, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
