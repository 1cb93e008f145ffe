package shim

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// maxSocketPath is the size of sun_path, less the zero byte at its end.
const maxSocketPath = 103

// dial connects through a symbolic link in a short place where the path of the
// socket is too long for the kernel.
func dial(ctx context.Context, dir string) (conn, error) {
	path := filepath.Join(dir, rundir.Socket)
	if len(path) > maxSocketPath {
		short, err := os.MkdirTemp("/tmp", "swarm-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(short)
		link := filepath.Join(short, "d")
		if err := os.Symlink(dir, link); err != nil {
			return nil, err
		}
		path = filepath.Join(link, rundir.Socket)
	}
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

// peerPID returns the pid of the process that listens at the other end; 0 if that is
// not known.
func peerPID(c conn) int {
	pid := 0
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				if peer, err := unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); err == nil {
					pid = peer
				}
			})
		}
	}
	return pid
}
