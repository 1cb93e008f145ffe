package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// relayCommand is the one command of this program in a container, where its name is swarm.
const relayCommand = "mcp"

// relay connects its client with the server of the container, which is outside.
func relay(args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 {
		return errors.New("in a container, 'swarm mcp' takes no arguments")
	}
	path := filepath.Join(rundir.ServerTarget, rundir.ServerSocket)
	conn, err := net.Dial("unix", path) //nolint:noctx // a local socket answers at once
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("no right to use %s: this process runs as another user than its worker", path)
	}
	if err != nil {
		return fmt.Errorf("no server of swarm answers at %s: %w", path, errtext.Cause(err))
	}
	defer func() { _ = conn.Close() }()
	go func() {
		// An error shows up below.
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	n, err := io.Copy(out, conn)
	if n == 0 && (err == nil || errors.Is(err, syscall.ECONNRESET)) {
		return errors.New("the server of swarm has turned this client away: this worker has too many, or is ending")
	}
	return err
}
