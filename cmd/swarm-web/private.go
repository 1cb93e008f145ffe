package main

import (
	"context"
	"net"

	"golang.org/x/sys/unix"
)

// listenPrivately makes a unix socket with mode 0600 from its first moment. The program has
// no other goroutine yet that makes files.
func listenPrivately(ctx context.Context, path string) (net.Listener, error) {
	defer unix.Umask(unix.Umask(0o177))
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}
