package shim

import (
	"context"
	"net"
	"os"
	"strconv"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// dial connects through a descriptor of the directory: the path of a unix socket
// may have 107 bytes, and a run directory's may have more.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	path := "/proc/self/fd/" + strconv.Itoa(int(d.Fd())) + "/" + rundir.Socket
	return new(net.Dialer).DialContext(ctx, "unix", path)
}
