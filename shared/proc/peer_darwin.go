package proc

import "golang.org/x/sys/unix"

// Peer returns the process and the user at the other end of a connected unix socket: the process
// that listens there, or that connected.
func Peer(fd int) (pid, uid int, err error) {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	return pid, int(peer.Uid), err
}
