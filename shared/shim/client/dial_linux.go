package client

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// maxSocketPath is the size of sun_path, less the zero byte at its end.
const maxSocketPath = 107

// dial connects through a descriptor of the directory where the path of the socket is too
// long for the kernel. A unix socket connects at once or not at all. Package net would also
// look up the addresses of the socket, which adds up for many workers.
func dial(_ context.Context, dir string) (conn, error) {
	path := filepath.Join(dir, rundir.Socket)
	if len(path) > maxSocketPath {
		d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		path = "/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + rundir.Socket
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	for {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
