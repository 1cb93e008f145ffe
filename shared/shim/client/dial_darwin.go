package client

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// maxSocketPath is the size of sun_path, less the zero byte at its end.
const maxSocketPath = 103

// dial connects through a symbolic link with a short path where the path of the
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
